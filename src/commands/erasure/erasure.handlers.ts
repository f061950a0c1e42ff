import type { Engine } from '../../engine.js';
import { tracesOf } from '../../projections/erasure/erasureTargets.queries.js';
import { changeAccess } from '../access/access.handlers.js';
import { apiKeyDecider } from '../apiKey/apiKey.decider.js';
import { clientDecider } from '../client/client.decider.js';
import { releaseAddress } from '../client/client.handlers.js';
import { consequenceOf, isDryRun, type CommandContext } from '../handleCommand.js';
import { Refused, refusals } from '../refusal.js';
import { websiteDecider } from '../website/website.decider.js';
import { clientFold } from '../../events/client/client.state.js';
import { keyOfId } from '../../events/apiKey/apiKey.stream.js';

/** Keeps something of people outside the log, by their address. */
export interface Keeper {
  /** @param person the address as it was sealed for whoever is erased: somebody else may have it by now */
  forget(address: string, person: string): Promise<void>;
}

/**
 * Erases a client (docs/adr/0010-personal-data.md): from `ClientErased` on they have no access and are not shown; when it resolves,
 * nothing that is left anywhere can be read. What a crash or a fault cuts off the erasure worker ends.
 * @throws Refused: `Client <id> does not exist`; faults of the stores, after which it may be repeated
 */
export const eraseClient = async (
  engine: Engine,
  keepers: readonly Keeper[],
  clientId: string,
  context: CommandContext,
): Promise<void> => {
  const { state } = await engine.state(clientFold, { clientId });
  if (state.stage === 'none') throw new Refused(refusals.clientNotFound(clientId));
  const address = await engine.personal.open(state.email);
  // An address that was never sealed says nothing of how far an erasure has come.
  const isOver = address === null || address === state.email;
  if (state.stage === 'erased' && isOver) throw new Refused(refusals.clientNotFound(clientId));
  await engine.handle(clientDecider, { type: 'EraseClient', clientId }, context);
  await eraseTraces(engine, keepers, { clientId, email: state.email }, context);
};

/**
 * All that follows from `ClientErased`, in an order in which it may be cut off anywhere and begun again, by several at once: the
 * address is a stranger's first, and the key goes last, so that without it nothing is left to be done.
 * @param client `email` as its events hold it
 */
export const eraseTraces = async (
  engine: Engine,
  keepers: readonly Keeper[],
  { clientId, email }: { readonly clientId: string; readonly email: string },
  context: CommandContext,
): Promise<void> => {
  const { personal } = engine;
  const address = await personal.open(email);
  if (address === null) return;
  await releaseAddress(engine, { clientId, email, address }, context);

  const { owned, accessible, apiKeys } = await tracesOf(engine, clientId, email);
  for (const websiteId of owned) {
    const remove = { type: 'RemoveOwner', websiteId, clientId } as const;
    await engine.handle(websiteDecider, remove, consequenceOf(engine, context));
  }
  for (const websiteId of accessible) {
    const withdraw = { type: 'WithdrawClient', websiteId, clientId, email } as const;
    await changeAccess(engine, withdraw, consequenceOf(engine, context));
  }
  for (const { id, subject } of apiKeys) {
    const revoke = { type: 'RevokeAPIKey', key: keyOfId(id), id, subject } as const;
    await engine.handle(apiKeyDecider, revoke, consequenceOf(engine, context));
  }
  if (isDryRun(context)) return;
  for (const keeper of keepers) await keeper.forget(address, email);
  await personal.destroy(email);
};
