/** Files that people of the demo upload. */
import sharp from 'sharp';

/**
 * A PDF of one page: a title, and lines below it, in ASCII.
 * @param {string} title
 * @param {readonly string[]} lines
 */
export const sheet = (title, lines) => {
  const text = [
    `BT /F1 24 Tf 72 760 Td (${title}) Tj ET`,
    ...lines.map((line, index) => `BT /F1 12 Tf 72 ${String(720 - 20 * index)} Td (${line}) Tj ET`),
  ].join('\n');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${String(text.length)} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let file = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const place = file.length;
    file += `${String(index + 1)} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const size = String(objects.length + 1);
  const end = `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${String(file.length)}\n%%EOF\n`;
  return new Blob([file + end], { type: 'application/pdf' });
};

const [width, height] = [1200, 800];

/** @param {string} colour - `#rrggbb` */
const channels = (colour) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

/**
 * A picture of three round shapes on a ground.
 * @param {string} ground - `#rrggbb`
 * @param {string} light - `#rrggbb`
 */
export const photo = async (ground, light) => {
  const [dark, bright] = [channels(ground), channels(light)];
  const pixels = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at += 1) {
    const [x, y] = [at % width, Math.floor(at / width)];
    const isInside = [300, 600, 900].some((middle) => Math.hypot((x - middle) / 130, (y - 400) / 90) < 1);
    pixels.set(isInside ? bright : dark, at * 3);
  }
  const bytes = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 80 })
    .toBuffer();
  return new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' });
};
