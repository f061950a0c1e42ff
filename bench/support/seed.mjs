import { load } from './doorstep.mjs';
import { nextSlug } from './names.mjs';

/** @typedef {import('./doorstep.mjs').Engine} Engine */

/** Websites whose events are written in one turn. */
const atOnce = 250;

/**
 * Makes active websites with a delivery block each, by appending the events that creating,
 * provisioning and setting up leave behind.
 * @param {Engine} engine
 * @param {number} count
 * @returns {Promise<string[]>} their ids
 */
export const seedWebsites = async (engine, count) => {
  const eventsOf = await websiteEvents(engine);
  /** @type {string[]} */
  const ids = [];
  while (ids.length < count) {
    const websites = Array.from({ length: Math.min(atOnce, count - ids.length) }, eventsOf);
    await Promise.all(websites.flatMap(({ appends }) => appends.map((append) => append())));
    ids.push(...websites.map(({ id }) => id));
  }
  return ids;
};

const checkpoints = ['kickoff', 'design-approved', 'initial-deploy', 'content-loaded', 'qa', 'launch'];
const dayMs = 86_400_000;

/**
 * Has the deliveries of websites completed, a checkpoint every few days: six events each.
 * @param {Engine} engine
 * @param {readonly string[]} websiteIds
 */
export const seedDeliveries = async (engine, websiteIds) => {
  const { eventId } = /** @type {typeof import('../../src/platform/ids.js')} */ (await load('platform/ids.js'));
  const startedAt = Date.now();
  for (let start = 0; start < websiteIds.length; start += atOnce) {
    await Promise.all(
      websiteIds.slice(start, start + atOnce).map((websiteId, index) => {
        const stream = `delivery-${websiteId}`;
        const commandId = engine.ids.commandId();
        const events = checkpoints.map((checkpointId, step) => {
          const at = new Date(startedAt + (step + 1) * (1 + (index % 7)) * dayMs).toISOString();
          const data = { websiteId, checkpointId, status: 'done', previousStatus: 'pending', completedAt: at };
          const metadata = { ...byBench(commandId), at: new Date().toISOString() };
          return engine.codec.encode({ type: 'DeliveryCheckpointStatusSet', data }, eventId(commandId, stream, step), metadata);
        });
        return engine.eventStore.append(stream, events, 0n);
      }),
    );
  }
};

const byBench = (/** @type {string} */ commandId) => ({
  actor: /** @type {const} */ ({ subject: 'bench', role: 'admin', via: 'token' }),
  requestId: commandId,
  correlationId: commandId,
  causationId: commandId,
});

/** @param {Engine} engine */
const websiteEvents = async (engine) => {
  /** @type {[typeof import('../../src/commands/website/website.decider.js'), typeof import('../../src/commands/delivery/delivery.decider.js'), typeof import('../../src/platform/ids.js')]} */
  const [{ websiteDecider, slugDecider }, { deliveryDecider }, { entityId, eventId }] = await Promise.all([
    load('commands/website/website.decider.js'),
    load('commands/delivery/delivery.decider.js'),
    load('platform/ids.js'),
  ]);

  return () => {
    const at = new Date().toISOString();
    const commandId = engine.ids.commandId();
    const websiteId = entityId(commandId, 'website');
    const provisioningJobId = entityId(commandId, 'provisioning');
    const slug = nextSlug();
    const site = { name: `Site ${slug}`, slug, templateId: 'business', collaborators: [] };
    const metadata = { at, ...byBench(commandId) };

    /**
     * @param {string} stream
     * @param {import('../../src/commands/refusal.js').Refusal | readonly import('../../src/events/envelope.js').DomainEvent[]} outcome
     */
    const append = (stream, outcome) => () => {
      if ('code' in outcome) throw new Error(`${stream}: ${outcome.message}`);
      const events = outcome.map((event, index) => engine.codec.encode(event, eventId(commandId, stream, index), metadata));
      return engine.eventStore.append(stream, events, -1n);
    };
    const job = { jobId: provisioningJobId, websiteId };
    const repository = { provider: 'embedded', id: slug, name: slug, cloneUrl: `file:///repositories/${slug}.git` };
    const hosting = { provider: 'embedded', projectId: slug, name: slug };

    return {
      id: websiteId,
      appends: [
        append(`slug-${slug}`, slugDecider.decide({ type: 'ReserveSlug', at, slug, websiteId }, slugDecider.initialState)),
        append(`website-${websiteId}`, [
          ...created(
            websiteDecider.decide(
              { type: 'CreateWebsite', at, ...site, websiteId, tier: 'starter', provisioningJobId },
              websiteDecider.initialState,
            ),
          ),
          { type: 'WebsiteActivated', data: { websiteId, repository, hosting, url: `http://127.0.0.1/sites/${slug}/` } },
        ]),
        append(`provisioning-${provisioningJobId}`, [
          { type: 'ProvisioningQueued', data: { ...job, ...site, createdAt: at } },
          { type: 'ProvisioningSucceeded', data: job },
        ]),
        append(
          `delivery-${websiteId}`,
          deliveryDecider.decide({ type: 'ReplaceDelivery', at, websiteId }, deliveryDecider.initialState),
        ),
      ],
    };
  };
};

/**
 * @param {import('../../src/commands/refusal.js').Refusal | readonly import('../../src/events/envelope.js').DomainEvent[]} outcome
 */
const created = (outcome) => {
  if ('code' in outcome) throw new Error(outcome.message);
  return outcome;
};

/**
 * So that no projector is still catching up while commands are timed.
 * @param {Engine} engine
 */
export const rebuildAll = async (engine) => {
  const { rebuildProjection } = /** @type {typeof import('../../src/projections/runner/rebuild.js')} */ (
    await load('projections/runner/rebuild.js')
  );
  const { projections } = /** @type {typeof import('../../src/projections/catalogue.js')} */ (
    await load('projections/catalogue.js')
  );
  for (const { name } of projections) {
    await rebuildProjection(name, { ...engine, projections, decode: (stored) => engine.codec.decode(stored) });
  }
};
