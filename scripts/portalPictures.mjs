/**
 * `npm run portal:pictures`: takes pictures of every page of the portal, in the states that the demo
 * has, at three widths, light and dark: `build/pictures/<page>.<width>.<scheme>.png`, and sheets of
 * many of them. `-- <words>` takes those whose names have one of the words.
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

const words = process.argv.slice(2);
const wanted = words.length === 0 ? visits : visits.filter(({ name }) => words.some((word) => name.includes(word)));

await prepareOrExit('service', 'portal');
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
