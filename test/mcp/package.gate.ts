import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { startAssistant } from '../support/assistant.js';
import { mintToken, startServer } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

/** The package as it is published, alone in an empty folder. */
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const run = promisify(execFile);
const isCi = process.env.CI === 'true';

let installed: string;
let address: string;
let token: string;

beforeAll(async () => {
  const packed = temporaryFolder();
  await run('npm', ['pack', '--silent', '--pack-destination', packed, '--workspace', 'mcp'], { cwd: root });
  const [tarball = ''] = readdirSync(packed);
  const folder = temporaryFolder();
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, join(packed, tarball)]);
  installed = join(folder, 'node_modules');
  const dataDir = temporaryFolder();
  ({ address } = await startServer(dataDir));
  token = await mintToken(dataDir);
}, 480_000);

test('it comes alone, with its licence, and without sources and tests', () => {
  const own = join(installed, '@doorstep', 'mcp');
  expect(readdirSync(installed).filter((name) => !name.startsWith('.'))).toEqual(['@doorstep']);
  expect(readdirSync(join(installed, '@doorstep'))).toEqual(['mcp']);
  expect(readdirSync(own).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json', 'types']);
  const files = readdirSync(own, { recursive: true }).map(String);
  expect(files.filter((file) => /(?<!\.d)\.ts$|\.map$|test|\.built-from/.test(file))).toEqual([]);
  expect(JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'))).toMatchObject({
    version: expect.any(String),
    license: 'MIT',
  });
});

const script = readFileSync(`${root}/test/support/node/install`, 'utf8');
const others = (/^versions=\((.*)\)$/m.exec(script)?.[1]?.split(' ') ?? []).map((version) => ({
  version,
  node: `${root}/.servers/node/${version}/bin/node`,
}));

for (const { version, node } of [{ version: process.versions.node, node: process.execPath }, ...others]) {
  const isThere = existsSync(node);
  if (!isThere && !isCi) console.info(`Node.js ${version} is not tried: run test/support/node/install.`);
  const whereItIs = isThere || isCi ? test : test.skip;
  whereItIs(`doorstep-mcp serves an assistant under Node.js ${version}`, async () => {
    const program = join(installed, '@doorstep', 'mcp', 'dist', 'doorstep-mcp.js');
    expect((await run(node, [program, '--version'])).stdout).toBe('0.1.0\n');
    const assistant = await startAssistant({ url: address, token, command: [node, program] });

    const created = await assistant.call('create_website', { name: `On ${version}`, wait: false });

    expect(created).toMatchObject({ isError: false, data: { website: { slug: `on-${version.replaceAll('.', '-')}` } } });
    expect(assistant.errors()).toBe('');
  });
}

test('its command is found', async () => {
  const { stdout } = await run(join(installed, '.bin', 'doorstep-mcp'), ['--help']);
  expect(stdout).toContain('DOORSTEP_TOKEN');
});
