import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../support/temporary.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const isInstalled = existsSync(join(root, '.servers', 'oasdiff', 'oasdiff'));

let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
});

interface Document {
  paths: Record<string, Record<string, { parameters: { name?: string }[] }>>;
  components: { schemas: Record<string, { properties: Record<string, unknown>; required: string[]; enum: string[] }> };
}

/** The API with a change, compared with the one of today. */
const compare = async (change: (document: Document) => void, changelog: string): Promise<{ code: number; output: string }> => {
  const today = join(root, 'build', 'openapi', 'openapi.json');
  const document = JSON.parse(readFileSync(today, 'utf8')) as Document;
  change(document);
  writeFileSync(join(folder, 'changed.json'), JSON.stringify(document));
  writeFileSync(
    join(folder, 'CHANGELOG.md'),
    `# Changelog\n\n## [Unreleased]\n\n${changelog}\n\n## [0.1.0]\n\n- \`listCommits\`\n`,
  );
  const args = ['scripts/openApiBreaking.mjs', today, join(folder, 'changed.json'), join(folder, 'CHANGELOG.md')];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
};

const withoutCommits = ({ paths }: Document): void => {
  delete paths['/websites/{id}/commits'];
};

(isInstalled || process.env.CI !== undefined ? describe : describe.skip)('a change of the API', () => {
  test('is refused when it breaks callers, and the changelog does not name the operation', async () => {
    const { code, output } = await compare(withoutCommits, '- Less.');
    expect(output).toMatch(/GET \/websites\/\{id\}\/commits \(listCommits\)/);
    expect(code).toBe(1);
  });

  test('passes when the newest section of the changelog names the operation', async () => {
    const { code, output } = await compare(withoutCommits, '- `listCommits` is gone: ask the source host.');
    expect(output).toMatch(/1 breaking changes since the baseline, 0 of them/);
    expect(code).toBe(0);
  });

  test.each<[string, (document: Document) => void, string]>([
    [
      'a field of an answer that is gone',
      ({ components }) => {
        delete components.schemas['Website']?.properties['url'];
      },
      'getWebsite',
    ],
    [
      'a parameter that is gone',
      ({ paths }) => {
        const list = paths['/websites']?.['get'];
        if (list) list.parameters = list.parameters.filter(({ name }) => name !== 'tier');
      },
      'listWebsites',
    ],
    [
      'a field that is needed now',
      ({ components }) => components.schemas['CreateWebsiteRequest']?.required.push('tier'),
      'createWebsite',
    ],
  ])('is refused when it is %s', async (_, change, operation) => {
    const { code, output } = await compare(change, '');
    expect(output).toContain(`(${operation})`);
    expect(code).toBe(1);
  });

  test('passes when it adds', async () => {
    const { code } = await compare(({ components }) => {
      const { Website, WebsiteStatus } = components.schemas;
      if (Website) Website.properties['motto'] = { type: 'string' };
      WebsiteStatus?.enum.push('sleeping');
    }, '');
    expect(code).toBe(0);
  });
});
