/**
 * Makes the picture of the CLI at work: the real program in a real terminal (tmux), at a real
 * service. Renew it after a change of what the commands print: `node scripts/cliPicture.mjs`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { root } from './processes.mjs';

const columns = 90;
const rows = 20;
const cell = { width: 8.4, height: 20 };
const folder = mkdtempSync(join(tmpdir(), 'doorstep-picture-'));
const socket = join(folder, 'tmux');

/** @param {readonly string[]} args */
const tmux = (...args) =>
  execFileSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], { env: environment, encoding: 'utf8' });

/** @param {RegExp} what */
const shows = async (what) => {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (what.test(tmux('capture-pane', '-p'))) return;
    await wait(100);
  }
  throw new Error(`The terminal does not show ${String(what)}:\n${tmux('capture-pane', '-p')}`);
};

/** @param {string} line */
const enter = (line) => {
  tmux('send-keys', '-l', line);
  tmux('send-keys', 'Enter');
};

const colours = /** @type {Record<number, string>} */ ({ 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' });

const escape = String.fromCharCode(27);
const marksOrText = new RegExp(`${escape}\\[([\\d;]*)m|([^${escape}]+)`, 'g');

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/**
 * A line of the screen as text of an SVG: each character has its place, whatever font there is.
 * @param {string} line @param {number} row
 */
const drawn = (line, row) => {
  const classes = new Set();
  let column = 0;
  let parts = '';
  for (const [, codes, text = ''] of line.matchAll(marksOrText)) {
    for (const code of codes === undefined ? [] : codes.split(';').map(Number)) {
      if (code === 0) classes.clear();
      if (code === 39) for (const colour of Object.values(colours)) classes.delete(colour);
      if (code === 1) classes.add('bold');
      if (code === 2) classes.add('dim');
      if (code === 22) for (const weight of ['bold', 'dim']) classes.delete(weight);
      if (colours[code] !== undefined) classes.add(colours[code]);
    }
    if (text.trim() !== '') {
      const x = 16 + column * cell.width;
      const named = classes.size === 0 ? '' : ` class="${[...classes].join(' ')}"`;
      parts += `<text x="${x.toFixed(1)}" y="${36 + row * cell.height}"${named} textLength="${(text.length * cell.width).toFixed(1)}" xml:space="preserve">${escaped(text)}</text>\n`;
    }
    column += text.length;
  }
  return parts;
};

/** @param {readonly string[]} lines */
const pictureOf = (
  lines,
) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${32 + columns * cell.width} ${32 + lines.length * cell.height + 8}" role="img" aria-label="The command doorstep in a terminal">
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #24292f }
rect { fill: #fff; stroke: #d0d7de }
.bold { font-weight: bold } .dim { fill: #656d76 } .red { fill: #b3261e } .green { fill: #1a7f37 } .yellow { fill: #8a5a00 } .cyan { fill: #0b6e8a }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } rect { fill: #0d1117; stroke: #30363d }
.dim { fill: #9198a1 } .red { fill: #ff8a80 } .green { fill: #56d364 } .yellow { fill: #e3b341 } .cyan { fill: #56d4dd }
}
</style>
<rect x="0.5" y="0.5" width="${31 + columns * cell.width}" height="${39 + lines.length * cell.height}" rx="8"/>
${lines.map(drawn).join('')}</svg>
`;

const server = spawn(process.execPath, [join(root, 'dist/main.js')], {
  cwd: folder,
  env: { PATH: process.env.PATH, DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'warn' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let address = '';
for await (const line of createInterface({ input: server.stdout })) {
  address = /open at (\S+)/.exec(line)?.[1] ?? '';
  if (address !== '') break;
}
const token = execFileSync(
  process.execPath,
  [join(root, 'scripts/operate.mjs'), 'mintToken', '--role', 'admin', '--subject', 'ops@example.com'],
  {
    env: { ...process.env, DATA_DIR: folder },
    encoding: 'utf8',
  },
).trim();
const bin = join(folder, 'bin');
mkdirSync(bin);
const program = join(root, 'cli/dist/doorstep.js');
chmodSync(program, 0o755);
symlinkSync(program, join(bin, 'doorstep'));
const environment = {
  PATH: `${bin}:${process.env.PATH ?? ''}`,
  HOME: folder,
  TZ: 'UTC',
  LANG: 'C.UTF-8',
  PS1: '$ ',
  DOORSTEP_URL: address,
  DOORSTEP_TOKEN: token,
};
/** @param {readonly string[]} args */
const doorstep = (...args) => execFileSync('doorstep', args, { env: environment, stdio: 'ignore' });

try {
  writeFileSync(join(folder, 'rc'), "PS1='$ '\n");
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), `bash --rcfile ${join(folder, 'rc')} --noprofile`);
  tmux('set-option', '-g', 'status', 'off');
  await shows(/\$/);
  enter('doorstep websites create "Corner Bakery" --slug corner-bakery --watch');
  await shows(/is active/);
  doorstep(
    'delivery',
    'set',
    'corner-bakery',
    '--ready-by',
    'in 30 days',
    '--due',
    'content-loaded=in 6 days',
    '--due',
    'qa=in 18 days',
    '--needed',
    'content-loaded=opening hours, three photos',
  );
  for (const checkpoint of ['kickoff', 'design-approved', 'initial-deploy'])
    doorstep('delivery', 'checkpoint', 'corner-bakery', checkpoint, 'done');
  doorstep('delivery', 'checkpoint', 'corner-bakery', 'content-loaded', 'in_progress');
  enter('doorstep delivery corner-bakery');
  await shows(/○ Launch/);
  const lines = tmux('capture-pane', '-p', '-e').trimEnd().split('\n');
  while (/^\$? *$/.test(lines.at(-1) ?? '')) lines.pop();
  // The port of this run is nobody's business.
  writeFileSync(
    join(root, 'cli/doorstep.svg'),
    pictureOf(lines.map((line) => line.replace(address, 'https://doorstep.example.com'))),
  );
} finally {
  tmux('kill-server');
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(folder, { recursive: true });
}
