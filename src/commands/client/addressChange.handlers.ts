import type { Engine } from '../../engine.js';
import { clientFold } from '../../events/client/client.state.js';
import { clientOfAddressChange } from '../../events/client/client.stream.js';
import { isoTime } from '../../platform/clock.js';
import { hasExpired } from '../../platform/times.js';
import { revokeTokens } from '../apiKey/apiKey.handlers.js';
import type { ErasureParts } from '../erasure/erasure.handlers.js';
import { consequenceOf, type CommandContext } from '../handleCommand.js';
import { clientDecider } from './client.decider.js';
import { freeAddress, releaseUnused, reserveFor } from './clientEmail.handlers.js';

/** What the owner of a new address sees of its change. */
export type AddressChangeView =
  | { readonly status: 'pending' | 'confirmed'; readonly address: string; readonly expiresAt: string }
  | { readonly status: 'expired' | 'gone' | 'taken' };

const gone = { status: 'gone' } as const;

/**
 * The secret of a change's link. It is not derived from what anybody but the service knows, and
 * need not be stored.
 */
export const addressChangeKey = ({ blindIndex }: Pick<Engine, 'blindIndex'>, changeId: string): string =>
  blindIndex(`address-change:${changeId}`);

/** A change of address; `gone` when there is none, it was withdrawn, or the client was erased. */
export const viewAddressChange = async (
  { state: read, personal, clock }: Pick<Engine, 'state' | 'personal' | 'clock'>,
  changeId: string,
): Promise<AddressChangeView> => {
  const clientId = clientOfAddressChange(changeId);
  const state = clientId === null ? null : (await read(clientFold, { clientId })).state;
  const change = state?.stage === 'registered' ? state.changes.get(changeId) : undefined;
  const address = change === undefined ? null : await personal.decrypt(change.email);
  if (change === undefined || change.stage === 'withdrawn' || address === null) return gone;
  const { stage: status, expiresAt } = change;
  if (status === 'pending' && hasExpired(expiresAt, isoTime(clock.now()))) return { status: 'expired' };
  return { status, address, expiresAt };
};

/**
 * Makes the new address the client's own. Whoever calls this has proved that they read its mail. A
 * repetition answers as the first call.
 * @returns `taken` when the address came to stand for somebody else meanwhile
 */
export const confirmAddressChange = async (
  engine: Engine,
  parts: Pick<ErasureParts, 'findTokens' | 'accounts'>,
  changeId: string,
  context: CommandContext,
): Promise<AddressChangeView> => {
  const clientId = clientOfAddressChange(changeId);
  const view = await viewAddressChange(engine, changeId);
  if (clientId === null || view.status !== 'pending') return view;
  const { address } = view;
  await freeAddress(engine, address, context);
  // The reservation comes first, so that of two who confirm one address at once one is refused.
  if ((await reserveFor(engine, clientId, address, context)) !== clientId) return { status: 'taken' };
  const { state } = await engine.state(clientFold, { clientId });
  if (state.stage !== 'registered') {
    await releaseUnused(engine, clientId, address, context);
    return gone;
  }
  // Who changes back to a former address gets a key that no later person can share.
  for (const email of state.formerEmails) await engine.personal.retire(email);
  const email = await engine.personal.encrypt(address, address);
  const confirm = { type: 'ConfirmAddressChange', clientId, changeId, email } as const;
  const { events } = await engine.handle(clientDecider, confirm, context);
  for (const { type, data } of events) {
    if (type !== 'ClientEmailChanged') continue;
    await reserveFor(engine, clientId, address, consequenceOf(engine, context));
    await completeAddressChange(engine, parts, data, context);
  }
  if (events.length === 0) await releaseUnused(engine, clientId, address, context);
  return viewAddressChange(engine, changeId);
};

/**
 * Everything that follows from `ClientEmailChanged`: the former address leads to nobody. It may be
 * interrupted anywhere and repeated, by several processes at once.
 */
export const completeAddressChange = async (
  engine: Engine,
  { findTokens, accounts }: Pick<ErasureParts, 'findTokens' | 'accounts'>,
  { clientId, formerEmail }: { readonly clientId: string; readonly formerEmail: string },
  context: CommandContext,
): Promise<void> => {
  const address = await engine.personal.decrypt(formerEmail);
  if (address === null) return;
  await engine.personal.retire(formerEmail);
  await releaseUnused(engine, clientId, address, context);
  // A token vouches for the address that it was made with, which may be somebody else's next.
  await revokeTokens(engine, await findTokens(formerEmail), context);
  await accounts.forget(address, formerEmail, clientId);
};
