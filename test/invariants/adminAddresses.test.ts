import { expect, test } from '@jest/globals';
import { pathTo, startEverybody } from '../support/everybody.js';
import { sendExamples, type ApiDocument } from '../support/examples.js';

/** Admins stand for the agency: clients see what they have done, and not who they are. */

const clients = ['owner', 'editor', 'viewer', 'invited', 'stranger'] as const;
const address = 'agency@example.com';
/** After these there are documents of both kinds, with versions. */
const saves = new Set(['restoreContent', 'restoreMarketing']);

test('no answer to a client has the address of an admin, whatever admins have done', async () => {
  const started = await startEverybody();
  const { api, credentials, routes } = started;
  // Its subject is an address, too, as that of a token minted on the server may be.
  const token = await api.mintToken({ subject: address, verifiedEmail: address });
  const everybody = { ...started, credentials: { ...credentials, admin: { ...credentials.admin, token } } };
  const document = (await api.call('GET', '/openapi.json')).body as ApiDocument;
  const lasting = routes.filter(({ method, answers }) => method === 'get' && answers[200]?.contentType !== 'text/event-stream');

  const shown: string[] = [];
  let answered = 0;
  const readAll = async (paths: readonly string[]): Promise<void> => {
    for (const path of paths) {
      for (const client of clients) {
        const { status, text } = await api.call('GET', path, { token: credentials[client].token });
        if (status === 200) answered += 1;
        if (text.includes(address)) shown.push(`${client} ${path}`);
      }
    }
  };
  for await (const { operation, method, target } of sendExamples(everybody, document)) {
    if (method === 'get') continue;
    await readAll([target.replace(/\?.*/, '')]);
    if (saves.has(operation.operationId)) await readAll(lasting.map(({ path }) => pathTo(path, everybody)));
  }
  expect(shown).toEqual([]);
  expect(answered).toBeGreaterThan(200);
}, 120_000);
