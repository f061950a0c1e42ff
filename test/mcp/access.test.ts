import { beforeEach, expect, test } from '@jest/globals';
import { loadCaller } from '@doorstep/mcp';
import { Doorstep } from '@doorstep/sdk';
import type { Assistant } from '../support/assistant.js';
import { startEverybody, type Everybody } from '../support/everybody.js';
import { expireInvitation } from '../support/expiredInvitation.js';
import { connectTools } from '../support/toolServer.js';

let everybody: Everybody;
let doorstep: Doorstep;
let admin: Assistant;

const website = 'bakery';
const email = 'invited@example.com';

beforeEach(async () => {
  everybody = await startEverybody();
  doorstep = new Doorstep({ baseUrl: everybody.api.url, token: everybody.credentials.admin.token });
  admin = await connectTools({ doorstep, caller: await loadCaller(doorstep) });
});

test('explain_access tells an open invitation from one that has expired', async () => {
  const before = await admin.call('explain_access', { website });
  expect(before.text.split('\n')[0]).toBe('bakery: an owner, 2 linked, 1 invited.');

  await expireInvitation(everybody.api.engine, everybody.invitationId);

  const after = await admin.call('explain_access', { website });
  expect(after.text.split('\n')[0]).toBe('bakery: an owner, 2 linked, 0 invited, 1 whose invitation has expired.');
  expect(after.data.access).toContainEqual({ email, role: 'viewer', invitedUntil: '2026-01-01T00:00:00.000Z', expired: true });
});
