import type { Engine } from '../../engine.js';
import type { AccessKey } from '../../events/access/access.stream.js';
import { canonicalAddress } from '../../platform/emailAddress.js';
import { changeAccess } from '../access/access.handlers.js';
import { revokeTokens } from '../apiKey/apiKey.handlers.js';
import { clientDecider } from '../client/client.decider.js';
import { releaseAddress } from '../client/clientEmail.handlers.js';
import { consequenceOf, type CommandContext, type HandleOptions } from '../handleCommand.js';
import { Refused, refusals } from '../refusal.js';
import { websiteDecider } from '../website/website.decider.js';
import { clientFold, type ClientAddresses } from '../../events/client/client.state.js';
import { clientIdOfEmail } from '../../events/client/client.directory.js';

/** Holds personal data outside the log, by address or by client. */
export interface PersonalDataHolder {
  /**
   * @param person the address as it was encrypted for the erased person: it may belong to somebody
   *   else now
   * @param clientId whose address it is or was
   */
  forget(address: string, person: string, clientId: string): Promise<void>;
}

/** Where a client is found outside their own stream, for an erasure to remove. */
export interface ErasureTargets {
  /** Websites that they own. */
  readonly owned: readonly string[];
  /** Links and invitations of theirs: the invitations also to another address, under which they have another id. */
  readonly accessible: readonly AccessKey[];
  readonly apiKeys: readonly { readonly id: string; readonly subject: string }[];
  /**
   * What they are called beside their own addresses, as events hold it, and no other client is: further
   * addresses, and subjects that are addresses.
   */
  readonly otherNames: { readonly addresses: readonly string[]; readonly subjects: readonly string[] };
}

/** A person whose erasure has been decided. */
export interface ErasedPerson {
  readonly clientId: string;
  /** Every address that was theirs or was to be, and every subject that is an address, as events hold it, and readable. */
  readonly addresses: readonly {
    readonly email: string;
    readonly address: string;
    /** Whether its account with the identity provider is theirs. */
    readonly isTheirs: boolean;
  }[];
}

/** What an erasure needs beside the engine. */
export interface ErasureParts {
  /**
   * The targets that the log holds at the time of the call.
   * @param emails as the client's events hold them
   */
  readonly findTargets: (clientId: string, emails: readonly string[]) => Promise<ErasureTargets>;
  /** The tokens that were made with an address, as events hold it. */
  readonly findTokens: (email: string) => Promise<ErasureTargets['apiKeys']>;
  /** The identity provider's accounts. */
  readonly accounts: PersonalDataHolder;
  /** Of anything else. */
  readonly holders: readonly PersonalDataHolder[];
}

/**
 * Erases a client (docs/adr/0010-personal-data.md): from `ClientErased` on they have no access and
 * appear nowhere. What is left of them is readable until `forgetPerson`. The erasure worker
 * completes what a crash or a fault cuts off.
 * @throws Refused: `Client <id> does not exist`, `Someone else saved …`; faults of the stores, after
 *   which it may be repeated
 */
export const eraseClient = async (
  engine: Engine,
  parts: Pick<ErasureParts, 'findTargets'>,
  clientId: string,
  context: CommandContext,
  options?: HandleOptions,
): Promise<ErasedPerson> => {
  const { state } = await engine.state(clientFold, { clientId });
  if (state.stage === 'none') throw new Refused(refusals.clientNotFound(clientId));
  const address = await engine.personal.decrypt(state.email);
  // An address that was never encrypted does not show how far an erasure has come.
  const isOver = address === null || address === state.email;
  const ifNothing = refusals.clientNotFound(clientId);
  const { state: after } = await engine.handle(clientDecider, { type: 'EraseClient', clientId }, context, {
    ...options,
    ...(isOver && { ifNothing }),
  });
  if (after.stage === 'none') throw new Refused(ifNothing);
  return withdrawClient(engine, parts, { ...after, clientId }, context);
};

/**
 * Everything that follows from `ClientErased`. It may be interrupted anywhere and repeated, by
 * several processes at once. The address is freed first and the key is destroyed last, so that a
 * missing key means that nothing is left to do but to wipe it.
 */
export const completeErasure = async (
  engine: Engine,
  parts: ErasureParts,
  client: ClientAddresses & { readonly clientId: string },
  context: CommandContext,
): Promise<void> => forgetPerson(engine, parts, await withdrawClient(engine, parts, client, context));

/** Removes the client from every stream that names them. */
const withdrawClient = async (
  engine: Engine,
  { findTargets }: Pick<ErasureParts, 'findTargets'>,
  { clientId, email, formerEmails, changes }: ClientAddresses & { readonly clientId: string },
  context: CommandContext,
): Promise<ErasedPerson> => {
  const addresses: ErasedPerson['addresses'][number][] = [];
  if ((await engine.personal.decrypt(email)) === null) {
    // The vault may have removed the key and failed to wipe it from its files; then this does that.
    await engine.personal.cryptoShred(email);
    return { clientId, addresses };
  }
  const requested = [...changes.values()].map((change) => change.email);
  for (const each of new Set([...formerEmails, ...requested, email])) {
    const address = await engine.personal.decrypt(each);
    if (address === null) continue;
    await engine.personal.retire(each);
    await releaseAddress(engine, clientId, address, context);
    // A former address may be another client's by now.
    const isTheirs = each === email || (formerEmails.includes(each) && (await clientIdOfEmail(engine, address)) === undefined);
    addresses.push({ email: each, address, isTheirs });
  }

  const { owned, accessible, apiKeys, otherNames } = await findTargets(clientId, [email, ...formerEmails]);
  for (const websiteId of owned) {
    const remove = { type: 'RemoveOwner', websiteId, clientId } as const;
    await engine.handle(websiteDecider, remove, consequenceOf(engine, context));
  }
  for (const key of accessible) {
    const withdraw = { type: 'WithdrawClient', ...key } as const;
    await changeAccess(engine, withdraw, consequenceOf(engine, context));
  }
  await revokeTokens(engine, apiKeys, context);
  const others: ErasedPerson['addresses'][number][] = [];
  for (const each of new Set([...otherNames.addresses, ...otherNames.subjects])) {
    const name = await engine.personal.decrypt(each);
    if (name === null) continue;
    await engine.personal.retire(each);
    const address = canonicalAddress(name);
    others.push({ email: each, address, isTheirs: (await clientIdOfEmail(engine, address)) === undefined });
  }
  return { clientId, addresses: [...others, ...addresses] };
};

/**
 * When it resolves, nothing that was stored of the person under any of these addresses can be read
 * anywhere. What people typed into free text stays.
 */
export const forgetPerson = async (
  { personal }: Pick<Engine, 'personal'>,
  { accounts, holders }: Pick<ErasureParts, 'accounts' | 'holders'>,
  { clientId, addresses }: ErasedPerson,
): Promise<void> => {
  for (const { email, address, isTheirs } of addresses) {
    for (const holder of holders) await holder.forget(address, email, clientId);
    if (isTheirs) await accounts.forget(address, email, clientId);
  }
  // That of the present address is last.
  for (const { email } of addresses) await personal.cryptoShred(email);
};
