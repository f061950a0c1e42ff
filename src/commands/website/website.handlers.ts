import type { Engine } from '../../engine.js';
import type { AccessKey } from '../../events/access/access.stream.js';
import type { WebsiteEvent } from '../../events/website/website.events.js';
import { entityId } from '../../platform/ids.js';
import { isoTime } from '../../platform/clock.js';
import { settleOwner, withdrawOvertakenOffers } from '../access/access.handlers.js';
import { isRefusal, type Untimed } from '../decider.js';
import { consequenceOf, type CommandContext, type Handled, type HandleOptions } from '../handleCommand.js';
import { Refused, refusals } from '../refusal.js';
import { type ChangeWebsite, type CreateWebsite } from './website.commands.js';
import { slugDecider, websiteDecider } from './website.decider.js';
import { clientFold } from '../../events/client/client.state.js';
import { hostingFold } from '../../events/website/hosting.state.js';
import { type SlugState, type WebsiteState, slugFold, websiteFold } from '../../events/website/website.state.js';

type Handling = Promise<Handled<WebsiteState, WebsiteEvent>>;

const requireClient = async (engine: Engine, clientId: string | null | undefined): Promise<void> => {
  if (clientId === undefined || clientId === null) return;
  const { state } = await engine.state(clientFold, { clientId });
  if (state.stage !== 'registered') throw new Refused(refusals.clientNotFound(clientId));
};

/**
 * Checks again after an owner was written, as an erasure searches for websites after it was
 * decided: two concurrent ones see each other.
 * @returns whether the client is erased, so that they own the website no longer
 */
export const removeErasedOwner = async (engine: Engine, owner: AccessKey, context: CommandContext): Promise<boolean> => {
  const { state } = await engine.state(clientFold, { clientId: owner.clientId });
  if (state.stage !== 'erased') return false;
  await engine.handle(websiteDecider, { type: 'RemoveOwner', ...owner }, consequenceOf(engine, context));
  return true;
};

const refuseErasedOwner = async (
  engine: Engine,
  websiteId: string,
  clientId: string | null | undefined,
  context: CommandContext,
): Promise<void> => {
  if (clientId === undefined || clientId === null) return;
  if (await removeErasedOwner(engine, { websiteId, clientId }, context)) throw new Refused(refusals.clientNotFound(clientId));
};

/**
 * Reserves the slug, then creates the website with status `provisioning`; the provisioning worker
 * starts on `WebsiteCreated`.
 * @throws Refused: `slug already exists`, `Client <id> does not exist`,
 *   `<feature> is not available on the <tier> tier`
 */
export const createWebsite = async (
  engine: Engine,
  input: Omit<CreateWebsite, 'type' | 'at' | 'websiteId' | 'provisioningJobId'>,
  context: CommandContext,
): Promise<{ websiteId: string }> => {
  const websiteId = entityId(context.commandId, 'website');
  const command = {
    type: 'CreateWebsite',
    ...input,
    websiteId,
    provisioningJobId: entityId(context.commandId, 'provisioning'),
  } as const;

  // A website that would be refused reserves no slug.
  await requireClient(engine, input.clientId);
  const expected = websiteDecider.decide({ ...command, at: isoTime(engine.clock.now()) }, websiteDecider.initialState);
  if (isRefusal(expected)) throw new Refused(expected);

  await reserveSlug(engine, { slug: input.slug, websiteId }, context);
  await engine.handle(websiteDecider, command, context);
  await refuseErasedOwner(engine, websiteId, input.clientId, context);
  return { websiteId };
};

/**
 * Whether the website that gave up the slug has something at the providers that is named by it: nothing of another
 * website can be made there under that name.
 */
const isBorne = async (engine: Engine, slug: string, state: SlugState): Promise<boolean> => {
  if (state.stage !== 'released') return false;
  const { websiteId } = state;
  const { state: former } = await engine.state(websiteFold, { websiteId });
  if (former.stage === 'none') return former.leftSlugs?.includes(slug) === true;
  const { hosting, repository } = (await engine.state(hostingFold, { websiteId })).state;
  // Before it is active, it may have made something under each of its slugs.
  return hosting === undefined || [hosting.name, repository?.name].includes(slug);
};

/** Whether a new website could not have the slug now. */
export const isSlugTaken = async (engine: Engine, slug: string): Promise<boolean> => {
  const { state } = await engine.state(slugFold, { slug });
  const at = isoTime(engine.clock.now());
  const command = { type: 'ReserveSlug', slug, websiteId: '', at } as const;
  if (!isRefusal(slugDecider.decide(command, state))) return isBorne(engine, slug, state);
  if (state.stage !== 'reserved') return true;
  const { websiteId: abandonedBy } = state;
  const holder = await engine.state(websiteFold, { websiteId: abandonedBy });
  const abandoned = websiteDecider.decide({ type: 'AbandonWebsite', websiteId: abandonedBy, slug, at }, holder.state);
  return isRefusal(abandoned) || isRefusal(slugDecider.decide({ ...command, abandonedBy }, state));
};

/**
 * Reserves the slug. It takes the slug over from a website that was not created in time, and whose
 * creation then never succeeds.
 */
const reserveSlug = async (
  engine: Engine,
  { slug, websiteId, validFrom }: { readonly slug: string; readonly websiteId: string; readonly validFrom?: bigint },
  context: CommandContext,
): Promise<SlugState> => {
  const { state: before } = await engine.state(slugFold, { slug });
  const abandonedBy = before.stage === 'reserved' && before.websiteId !== websiteId ? before.websiteId : undefined;
  const command = { type: 'ReserveSlug', slug, websiteId, abandonedBy, validFrom } as const;
  const expected = slugDecider.decide({ ...command, at: isoTime(engine.clock.now()) }, before);
  if (isRefusal(expected)) throw new Refused(expected);
  // Only a new website is named by its slug at the providers.
  if (validFrom === undefined && (await isBorne(engine, slug, before))) throw new Refused(refusals.slugTaken());
  if (abandonedBy !== undefined) {
    const abandon = { type: 'AbandonWebsite', websiteId: abandonedBy, slug } as const;
    await engine.handle(websiteDecider, abandon, context);
  }
  return (await engine.handle(slugDecider, command, context)).state;
};

/** @returns where in the log the slug was reserved for the change; nothing when there is none to reserve */
const reserveNewSlug = async (
  engine: Engine,
  change: Untimed<ChangeWebsite>,
  context: CommandContext,
  { expectedRevision }: HandleOptions,
): Promise<{ readonly reservationPosition?: bigint }> => {
  const { websiteId, slug } = change;
  const { state, revision } = await engine.state(websiteFold, { websiteId });
  if (slug === undefined || state.stage === 'none' || state.slug === slug) return {};
  // A change that would be refused reserves no slug.
  if (expectedRevision !== undefined && expectedRevision !== revision) return {};
  const latest = { ...change, reservationPosition: (1n << 63n) - 1n, at: isoTime(engine.clock.now()) };
  if (isRefusal(websiteDecider.decide(latest, state))) return {};
  const { slugPosition, forgone } = state;
  const forgoneAt = forgone.get(slug) ?? slugPosition;
  const validFrom = forgoneAt > slugPosition ? forgoneAt : slugPosition;
  const reserved = await reserveSlug(engine, { slug, websiteId, validFrom }, context);
  return reserved.stage === 'reserved' ? { reservationPosition: reserved.position } : {};
};

/**
 * An assigned owner has neither link nor pending invitation, and the offers of the website's ownership that were open are
 * withdrawn. When this is interrupted after the assignment, the access worker
 * (`workers/access/`) completes it.
 * A new slug is reserved first; the site worker releases the one before.
 * @param openOffers ids of the offers that were open before; one that is missing is withdrawn later,
 *   and cannot be claimed meanwhile
 * @throws Refused: unknown or archived website, unknown client, a feature above the tier,
 *   `Someone else saved …`
 */
export const changeWebsite = async (
  engine: Engine,
  { openOffers = [], ...input }: Omit<ChangeWebsite, 'type' | 'at'> & { readonly openOffers?: readonly string[] },
  context: CommandContext,
  options: HandleOptions = {},
): Handling => {
  await requireClient(engine, input.clientId);
  const { websiteId, clientId } = input;
  const change = { type: 'ChangeWebsite', ...input } as const;
  const reservation = await reserveNewSlug(engine, change, context, options);
  const handled = await engine.handle(websiteDecider, { ...change, ...reservation }, context, options);
  if (clientId !== undefined && clientId !== null) {
    // Of a repetition: what was given since stays.
    const upTo = handled.state.stage === 'none' ? undefined : handled.state.ownerPosition;
    await settleOwner(engine, { websiteId, clientId }, context, upTo);
    await withdrawOvertakenOffers(engine, websiteId, openOffers, context);
  }
  await refuseErasedOwner(engine, websiteId, clientId, context);
  return handled;
};

/**
 * Makes a client the owner, once for each context: a repetition does not overwrite a later
 * assignment.
 * @param input `offerPosition`: where in the log the offer was sent that is carried out
 * @throws Refused: unknown or archived website, `Client <id> does not exist`, `Pending transfer not
 *   found` when an owner was assigned since the offer was sent
 */
export const transferOwnership = async (
  engine: Engine,
  { websiteId, clientId, offerPosition }: AccessKey & { readonly offerPosition: bigint },
  context: CommandContext,
): Promise<void> => {
  await requireClient(engine, clientId);
  const command = { type: 'ChangeWebsite', websiteId, clientId, offerPosition } as const;
  await engine.handle(websiteDecider, command, context);
  const { state } = await engine.state(websiteFold, { websiteId });
  if (state.stage !== 'none' && state.clientId === clientId) await settleOwner(engine, { websiteId, clientId }, context);
  await refuseErasedOwner(engine, websiteId, clientId, context);
};

/**
 * Takes the ownership from its client: nobody owns the website then.
 * @param clientId absent when nobody owns it now, which only a repetition of this command has led to
 * @throws Refused: `Owner of website <id> not found`, `Someone else saved …`
 */
export const removeOwner = async (
  engine: Engine,
  { websiteId, clientId = '' }: { readonly websiteId: string; readonly clientId: string | undefined },
  context: CommandContext,
  options?: HandleOptions,
): Promise<void> => {
  const ifNothing = refusals.ownerNotFound(websiteId);
  await engine.handle(websiteDecider, { type: 'RemoveOwner', websiteId, clientId }, context, { ...options, ifNothing });
};
