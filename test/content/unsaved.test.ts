import { describe, expect, test } from '@jest/globals';
import { createReadUnsaved } from '../../src/http/routes/content/unsaved.js';
import type { SourceHost } from '../../src/integrations/sourceHost/port.js';

describe('of what was pushed', () => {
  const read = async (text: string): Promise<unknown> => {
    const files = new Map([['_data/company.json', Buffer.from(text)]]);
    const sourceHost = {
      provider: 'embedded',
      readEditable: () => Promise.resolve({ properties: { company: {} } }),
      readFiles: () => Promise.resolve({ head: '', files }),
    } as unknown as SourceHost;
    const repository = { provider: 'embedded', id: 'bakery', name: 'bakery', cloneUrl: '', defaultBranch: 'main' };
    return (await createReadUnsaved(sourceHost)({ templateId: 'business', repository })).get('company');
  };

  test('a JSON document is read', async () => {
    expect(await read('{ "tagline": "Bread" }\n')).toEqual({ tagline: 'Bread' });
  });

  test.each([
    ['what is no JSON', '{'],
    ['what is nested too deep to be saved', `${'['.repeat(64)}${']'.repeat(64)}`],
    ['what is nested too deep for any function', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['what is too large to be saved', `[${'[],'.repeat(300_000)}[]]`],
  ])('%s is no document', async (_, text) => {
    expect(await read(text)).toBeUndefined();
  });
});
