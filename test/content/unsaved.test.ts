import { describe, expect, test } from '@jest/globals';
import { createReadUnsaved } from '../../src/http/routes/content/unsaved.js';
import type { SourceHost } from '../../src/integrations/sourceHost/port.js';

const repository = { provider: 'embedded', id: 'bakery', name: 'bakery', cloneUrl: '', defaultBranch: 'main' };
const readsFrom = (readFiles: () => Promise<unknown>) =>
  createReadUnsaved({
    provider: 'embedded',
    readEditable: () => Promise.resolve({ properties: { company: {} } }),
    readFiles,
  } as unknown as SourceHost);

test('those who ask at once share a read that began after they asked', async () => {
  let reads = 0;
  const readUnsaved = readsFrom(() => {
    reads += 1;
    return Promise.resolve({ head: '', files: new Map([['_data/company.json', Buffer.from(String(reads))]]) });
  });
  const read = async () => (await readUnsaved({ templateId: 'business', repository })).get('company');
  const found = await Promise.all(Array.from({ length: 50 }, read));
  expect(found).toEqual([1, ...Array.from({ length: 49 }, () => 2)]);
});

describe('of what was pushed', () => {
  const read = async (text: string): Promise<unknown> => {
    const files = new Map([['_data/company.json', Buffer.from(text)]]);
    const readUnsaved = readsFrom(() => Promise.resolve({ head: '', files }));
    return (await readUnsaved({ templateId: 'business', repository })).get('company');
  };

  test('a JSON document is read', async () => {
    expect(await read('{ "tagline": "Bread" }\n')).toEqual({ tagline: 'Bread' });
  });

  test.each([
    ['what is no JSON', '{'],
    ['what is a little too large to be saved', JSON.stringify('x'.repeat(1_000_000))],
    ['what is nested too deep to be saved', `${'['.repeat(64)}${']'.repeat(64)}`],
    ['what is nested too deep for any function', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['what is too large to be saved', `[${'[],'.repeat(300_000)}[]]`],
  ])('%s is no document', async (_, text) => {
    expect(await read(text)).toBeUndefined();
  });
});
