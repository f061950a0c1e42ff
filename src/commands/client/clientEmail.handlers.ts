import type { Engine } from '../../engine.js';
import { clientEmailFold, clientFold, pendingChange, type ClientState } from '../../events/client/client.state.js';
import { entityId } from '../../platform/ids.js';
import { consequenceOf, type CommandContext } from '../handleCommand.js';
import { Refused, refusals } from '../refusal.js';
import { clientEmailDecider } from './client.decider.js';

/**
 * The client id that a lower-case address stands for. The first call for an address reserves one.
 */
export const reserveClientId = async (engine: Engine, address: string, context: CommandContext): Promise<string> => {
  await freeAddress(engine, address, context);
  return reserveFor(engine, entityId(context.commandId, 'client'), address, context);
};

/** @returns the client that the address stands for: another one when it held it before */
export const reserveFor = async (engine: Engine, clientId: string, address: string, context: CommandContext): Promise<string> => {
  const reserve = { type: 'ReserveClientEmail', emailIndex: engine.blindIndex(address), clientId } as const;
  return (await engine.handle(clientEmailDecider, reserve, context)).state.clientId ?? clientId;
};

type Reads = Pick<Engine, 'state' | 'personal' | 'blindIndex'>;

const holderOf = async (engine: Reads, address: string): Promise<string | undefined> =>
  (await engine.state(clientEmailFold, { emailIndex: engine.blindIndex(address) })).state.clientId;

/** Whether the address stands for the client, or is to as soon as it is confirmed. */
const isInUse = async ({ personal }: Reads, state: ClientState, address: string): Promise<boolean> => {
  // Nobody is registered with it: it was invited.
  if (state.stage === 'none') return true;
  if (state.stage === 'erased') return false;
  const used = [state.email, pendingChange(state)?.email];
  for (const email of used) if (email !== undefined && (await personal.decrypt(email)) === address) return true;
  return false;
};

/**
 * Releases an address that a client holds who was erased or has another one by now, so that it
 * belongs to a new person. An erasure and a change of address do so themselves; a command that
 * needs the address earlier does it first.
 */
export const freeAddress = async (engine: Engine, address: string, context: CommandContext): Promise<void> => {
  const clientId = await holderOf(engine, address);
  if (clientId !== undefined) await releaseUnused(engine, clientId, address, context);
};

/** Releases the address unless the client uses it. */
export const releaseUnused = async (
  engine: Engine,
  clientId: string,
  address: string,
  context: CommandContext,
): Promise<void> => {
  const { state } = await engine.state(clientFold, { clientId });
  if (state.stage === 'none' || (await isInUse(engine, state, address))) return;
  for (const email of [state.email, ...state.formerEmails]) {
    if ((await engine.personal.decrypt(email)) === address) await engine.personal.retire(email);
  }
  await releaseAddress(engine, clientId, address, context);
  // The client may have changed back meanwhile, and reserves after that: one sees the other.
  const { state: now } = await engine.state(clientFold, { clientId });
  if (await isInUse(engine, now, address)) await reserveFor(engine, clientId, address, consequenceOf(engine, context));
};

/** Nothing happens unless the client holds the address. */
export const releaseAddress = async (
  engine: Engine,
  clientId: string,
  address: string,
  context: CommandContext,
): Promise<void> => {
  const release = { type: 'ReleaseClientEmail', emailIndex: engine.blindIndex(address), clientId } as const;
  await engine.handle(clientEmailDecider, release, consequenceOf(engine, context));
};

/**
 * @throws Refused: `A client with this email already exists`, `Somebody with this email is invited
 *   to a website`
 */
export const refuseTakenAddress = async (engine: Reads, clientId: string, address: string): Promise<void> => {
  const holder = await holderOf(engine, address);
  if (holder === undefined || holder === clientId) return;
  const { state } = await engine.state(clientFold, { clientId: holder });
  if (!(await isInUse(engine, state, address))) return;
  throw new Refused(state.stage === 'none' ? refusals.clientEmailInvited() : refusals.clientEmailTaken());
};
