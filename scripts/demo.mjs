/**
 * `npm run demo`: opens a made-up agency in a folder of its own, `data/demo` or `--dir <folder>`. The
 * first time, and with `--fresh`, it makes the agency; then it becomes the server on that folder.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { brand, people } from './demo/people.mjs';
import { become, prepareFor } from './prepare.mjs';
import { endWithShellOf, report, root, run } from './processes.mjs';

endWithShellOf('demo');

const usage = 'npm run demo -- [--dir <folder>] [--fresh]';

/** Settings that a demo takes from whoever starts it; all others would lead out of its folder. */
const ownSettings = ['HOST', 'PORT', 'LOG_LEVEL'];

/** @param {string} text @returns {never} */
const fail = (text) => {
  report(text);
  process.exit(1);
};

const readOptions = () => {
  try {
    return parseArgs({ options: { dir: { type: 'string' }, fresh: { type: 'boolean' } } }).values;
  } catch (error) {
    return fail(`${/** @type {Error} */ (error).message}\n${usage}`);
  }
};

const { dir, fresh = false } = readOptions();
const folder = dir === undefined ? join(root, 'data', 'demo') : resolve(dir);

/** Says that a folder is a demo, and whether its making came to the end. */
const noteFile = join(folder, 'demo.json');
const isDemo = existsSync(noteFile);
const { isMade } = /** @type {{ isMade: boolean }} */ (isDemo ? JSON.parse(readFileSync(noteFile, 'utf8')) : { isMade: false });
/** @param {boolean} made */
const note = (made) => {
  writeFileSync(noteFile, `${JSON.stringify({ isMade: made })}\n`);
};

const settings = () => {
  const example = readFileSync(join(root, '.env.example'), 'utf8').matchAll(/^#? ?([A-Z][A-Z0-9_]*)=/gm);
  const others = new Set(Array.from(example, ([, name = '']) => name).filter((name) => !ownSettings.includes(name)));
  const kept = Object.entries(process.env).filter(([name]) => !others.has(name));
  process.env = { ...Object.fromEntries(kept), ...brand, DATA_DIR: folder, ADMIN_EMAILS: people.operator.email };
};

const make = async () => {
  if (!isDemo && existsSync(folder) && readdirSync(folder).length > 0) {
    fail(`${folder} holds something that is no demo. Name another folder: ${usage}`);
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  note(false);
  report('making the demo (half a minute)');
  // In a process of its own: what the making has loaded is not needed afterwards.
  const code = await run(process.execPath, [join(root, 'scripts', 'demo', 'make.mjs'), folder], { stdio: ['ignore', 2, 2] });
  if (code !== 0) fail('the demo could not be made');
  note(true);
};

const introduce = () => {
  const rows = Object.values(people).flatMap(({ email, shows }) => (shows === undefined ? [] : [[email, shows]]));
  const width = Math.max(...rows.map(([email = '']) => email.length));
  const lines = rows.map(([email = '', shows = '']) => `  ${email.padEnd(width)}  ${shows}`);
  process.stdout.write(
    `${brand.BRAND_NAME}, a made-up agency, is in ${folder}\nSign in at /app/ by one of these addresses; the code comes into this log:\n${lines.join('\n')}\n`,
  );
};

await prepareFor(['sdk', 'mcp', 'portal'], false);
settings();
if (fresh || !isMade) await make();
introduce();
// A `.env` of the checkout is not the demo's.
process.chdir(folder);
await become('main.js', []);
