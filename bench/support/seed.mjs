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
 * @param {(index: number) => Partial<Pick<import('../../src/commands/website/website.commands.js').CreateWebsite, 'tier' | 'clientId'>>} [more]
 *   what is special about a website
 * @returns {Promise<string[]>} their ids
 */
export const seedWebsites = async (engine, count, more = () => ({})) => {
  const eventsOf = await websiteEvents(engine);
  /** @type {string[]} */
  const ids = [];
  await inPortions(count, async (index) => {
    const { id, appends } = eventsOf(more(index));
    ids[index] = id;
    await Promise.all(appends.map((append) => append()));
  });
  return ids;
};

/**
 * Runs `make` for each index, many at the same time.
 * @param {number} count
 * @param {(index: number) => Promise<unknown>} make
 */
export const inPortions = async (count, make) => {
  for (let start = 0; start < count; start += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - start) }, (_, index) => make(start + index)));
  }
};

/**
 * Appends events to the end of a stream, as many as the store takes at once.
 * @param {Engine} engine
 * @param {string} stream
 * @param {readonly import('../../src/events/envelope.js').DomainEvent[]} events
 */
export const appendTo = async (engine, stream, events) => {
  for (let start = 0; start < events.length; start += atOnce) {
    const metadata = { ...byBench(engine.ids.commandId()), at: new Date().toISOString() };
    const encoded = events
      .slice(start, start + atOnce)
      .map((event) => engine.codec.encode(event, engine.ids.commandId(), metadata));
    await engine.eventStore.append(stream, encoded, 'any');
  }
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

export const byBench = (/** @type {string} */ commandId) => ({
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

  return (/** @type {ReturnType<NonNullable<Parameters<typeof seedWebsites>[2]>>} */ more) => {
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
    const url = `http://127.0.0.1/sites/${slug}/`;
    const steps = Object.entries({
      github_create_repo: { ...repository, defaultBranch: 'main' },
      github_invite_collaborator: { invited: [] },
      vercel_create_project: { ...hosting, url },
      vercel_set_env_vars: { variables: ['SITE_NAME'] },
      vercel_initial_deploy: { deploymentId: slug, url, commit: '0'.repeat(40) },
      finalize: { url },
    });

    return {
      id: websiteId,
      appends: [
        append(`slug-${slug}`, slugDecider.decide({ type: 'ReserveSlug', at, slug, websiteId }, slugDecider.initialState)),
        append(`website-${websiteId}`, [
          ...created(
            websiteDecider.decide(
              { type: 'CreateWebsite', at, ...site, websiteId, tier: 'starter', provisioningJobId, ...more },
              websiteDecider.initialState,
            ),
          ),
          { type: 'WebsiteActivated', data: { websiteId, repository, hosting, url } },
        ]),
        append(`provisioning-${provisioningJobId}`, [
          { type: 'ProvisioningQueued', data: { ...job, ...site, createdAt: at } },
          ...steps.flatMap(([step, output]) => {
            const attempt = { ...job, step, attempt: 1 };
            return [
              { type: 'ProvisioningStepStarted', data: { ...attempt, worker: 'bench', leaseUntil: at } },
              { type: 'ProvisioningStepSucceeded', data: { ...attempt, output } },
            ];
          }),
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
