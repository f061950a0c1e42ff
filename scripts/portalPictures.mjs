/**
 * `npm run portal:pictures`: takes pictures of every page of the portal, in the states that the demo
 * has, at three widths, light and dark: `build/pictures/<page>.<width>.<scheme>.png`, and sheets of
 * many of them. `-- <words>` takes those whose names have one of the words; `-- --readme` takes those
 * of the README, to `docs/pictures`.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { openDemo } from './portal/seat.mjs';
import { visits } from './portal/visits.mjs';
import { prepareOrExit } from './prepare.mjs';
import { root } from './processes.mjs';

const widths = /** @type {const} */ ([320, 768, 1280]);
const schemes = /** @type {const} */ (['light', 'dark']);
const heights = { 320: 640, 768: 1024, 1280: 800 };

/** Those of the README, by who sees them: sharp on the screens of today, and of less than 100 kB each. */
const shown = [
  {
    who: /** @type {const} */ ('anna'),
    screen: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
    files: { status: 'status-owner' },
  },
  {
    who: /** @type {const} */ ('operator'),
    screen: { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5 },
    files: { home: 'home', delivery: 'delivery-operator' },
  },
];

const isForReadme = process.argv.includes('--readme');
const words = process.argv.slice(2);
const wanted = words.length === 0 ? visits : visits.filter(({ name }) => words.some((word) => name.includes(word)));

await prepareOrExit('service', 'portal');

const takeForReadme = async () => {
  const demo = await openDemo(join(root, 'data', 'pictures'));
  try {
    for (const { who, screen, files } of shown) {
      const page = await demo.openWindow(who, screen);
      for (const [file, name] of Object.entries(files)) {
        const visit = visits.find((one) => one.name === name);
        if (visit === undefined) throw new Error(`No visit has the name ${name}`);
        await demo.open(page, visit);
        // A page has few colours: with a palette the picture weighs a third.
        await sharp(await page.screenshot({ animations: 'disabled' }))
          .png({ palette: true, colours: 16, dither: 0, effort: 10 })
          .toFile(join(root, 'docs', 'pictures', `${file}.png`));
      }
      await page.context().close();
    }
  } finally {
    await demo.close();
  }
};

if (isForReadme) {
  mkdirSync(join(root, 'docs', 'pictures'), { recursive: true });
  await takeForReadme();
  process.exit();
}

const folder = join(root, 'build', 'pictures');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

/** @param {string} name @param {number} width @param {string} scheme */
const fileOf = (name, width, scheme) => join(folder, `${name}.${String(width)}.${scheme}.png`);

const demo = await openDemo(join(root, 'data', 'pictures'));
try {
  for (const who of new Set(wanted.map((visit) => visit.who))) {
    const page = await demo.openWindow(who);
    for (const visit of wanted.filter((one) => one.who === who)) {
      try {
        await demo.open(page, visit);
      } catch (error) {
        process.stderr.write(`${visit.name} does not come: ${String(error)}\n`);
      }
      for (const width of widths) {
        await page.setViewportSize({ width, height: heights[width] });
        for (const scheme of schemes) {
          await page.emulateMedia({ colorScheme: scheme });
          await page.screenshot({ path: fileOf(visit.name, width, scheme), fullPage: true, animations: 'disabled' });
        }
      }
      process.stdout.write(`${visit.name}\n`);
    }
    await page.context().close();
  }
} finally {
  await demo.close();
}

/** Pictures side by side, as large as a sheet lets them be. @param {number} width @param {string} scheme */
const sheets = async (width, scheme) => {
  const [cell, perSheet] = width === 320 ? [240, 14] : [480, 6];
  const perRow = width === 320 ? 7 : 3;
  const height = width === 320 ? 900 : 620;
  for (let start = 0; start < wanted.length; start += perSheet) {
    const part = wanted.slice(start, start + perSheet);
    const composed = await Promise.all(
      part.map(async ({ name }, index) => ({
        input: await sharp(fileOf(name, width, scheme))
          .resize({ width: cell })
          .extract(await cut(fileOf(name, width, scheme), cell, height))
          .toBuffer(),
        left: (index % perRow) * (cell + 10),
        top: Math.floor(index / perRow) * (height + 10),
      })),
    );
    const sheet = {
      width: perRow * (cell + 10),
      height: Math.ceil(part.length / perRow) * (height + 10),
      channels: /** @type {3} */ (3),
      background: '#888',
    };
    await sharp({ create: sheet })
      .composite(composed)
      .png()
      .toFile(join(folder, `sheet-${String(width)}-${scheme}-${String(start / perSheet + 1)}.png`));
  }
};

/** @param {string} file @param {number} width @param {number} maxHeight */
const cut = async (file, width, maxHeight) => {
  const { width: from, height: tall } = await sharp(file).metadata();
  return { left: 0, top: 0, width, height: Math.min(maxHeight, Math.floor((tall * width) / from)) };
};

for (const width of widths) for (const scheme of schemes) await sheets(width, scheme);
