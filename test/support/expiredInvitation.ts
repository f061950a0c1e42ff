import { accessFold } from '../../src/events/access/access.state.js';
import { accessStream, keyOfInvitation } from '../../src/events/access/access.stream.js';
import type { AccessEvent } from '../../src/events/access/access.events.js';
import { someAdmin } from './given.js';
import type { TestProcess } from './process.js';

/** Lets an invitation expire, as 30 days would. */
export const expireInvitation = async (engine: TestProcess, invitationId: string): Promise<void> => {
  const key = keyOfInvitation(invitationId);
  if (key === null) throw new Error('this is no id of an invitation');
  const { state, revision } = await engine.state(accessFold, key);
  const invitation = state.invitations.get(invitationId);
  if (invitation === undefined) throw new Error('there is no such invitation');
  const { kind, email, role } = invitation;
  const terms = { kind, email, ...(role !== undefined && { role }), expiresAt: '2026-01-01T00:00:00.000Z', sendMail: false };
  const event: AccessEvent = { type: 'InvitationRenewed', data: { ...key, invitationId, ...terms } };
  const metadata = { at: '2025-12-02T00:00:00.000Z', actor: someAdmin, requestId: 'r', correlationId: 'c', causationId: 'c' };
  await engine.eventStore.append(
    accessStream.name(key),
    [engine.codec.encode(event, engine.ids.commandId(), metadata)],
    revision,
  );
};
