/**
 * Setting a checkpoint's status as one would write it with Emmett: events, a decider,
 * `CommandHandler`, `getApplication` and `on` as in its guide, on its SQLite event store in a file.
 * Argument: the file.
 *
 * Left alone, that store opens a connection for every read and append, and fifty commands at once
 * wait for each other's locks until all of them fail; sharing one connection, they mix their
 * transactions, and are answered before they are durable. So here commands share one connection and
 * go one after the other: the fastest way that is right.
 */
import { CommandHandler, IllegalStateError, ValidationError, assertNotEmptyString } from '@event-driven-io/emmett';
import { OK, getApplication, on } from '@event-driven-io/emmett-expressjs';
import { getSQLiteEventStore, sqliteConnection } from '@event-driven-io/emmett-sqlite';

const statuses = ['pending', 'in_progress', 'done'];
const template = ['kickoff', 'design-approved', 'initial-deploy', 'content-loaded', 'qa', 'launch'];

const initialState = () => ({ checkpoints: null });

const evolve = (state, { type, data }) => {
  switch (type) {
    case 'DeliverySetUp':
      return { ...data };
    case 'DeliveryCheckpointStatusSet':
      return {
        ...state,
        checkpoints: state.checkpoints.map((checkpoint) => {
          if (checkpoint.id !== data.checkpointId) return checkpoint;
          const { completedAt: _, ...rest } = checkpoint;
          return { ...rest, status: data.status, ...(data.completedAt !== undefined && { completedAt: data.completedAt }) };
        }),
      };
    default:
      return state;
  }
};

const setUp = ({ data: { websiteId, now } }, state) => {
  if (state.checkpoints !== null) return [];
  const checkpoints = template.map((id, index) => ({ id, label: id, order: (index + 1) * 10, status: 'pending' }));
  const estimatedCompletionAt = new Date(now.getTime() + 30 * 24 * 60 * 60 * 1_000).toISOString();
  return { type: 'DeliverySetUp', data: { websiteId, estimatedCompletionAt, showPreviewUrl: false, checkpoints } };
};

const setStatus = ({ data: { websiteId, checkpointId, status, now } }, state) => {
  const checkpoint = state.checkpoints?.find(({ id }) => id === checkpointId);
  if (checkpoint === undefined) throw new IllegalStateError(`Checkpoint ${checkpointId} not found`);
  if (checkpoint.status === status) return [];
  return {
    type: 'DeliveryCheckpointStatusSet',
    data: {
      websiteId,
      checkpointId,
      status,
      previousStatus: checkpoint.status,
      ...(status === 'done' && { completedAt: now.toISOString() }),
    },
  };
};

const assertStatus = (value) => {
  if (!statuses.includes(value)) throw new ValidationError(`status must be one of ${statuses.join(', ')}`);
  return value;
};

const handleCommand = CommandHandler({ evolve, initialState, retry: { onVersionConflict: true } });

let before = Promise.resolve();
const handle = (...args) => {
  const handled = before.then(() => handleCommand(...args));
  before = handled.catch(() => undefined);
  return handled;
};

const streamOf = (websiteId) => `delivery-${assertNotEmptyString(websiteId)}`;

const deliveryApi = (eventStore) => (router) => {
  router.put(
    '/v1/websites/:websiteId/delivery',
    on(async ({ params: { websiteId } }) => {
      const command = { type: 'SetUpDelivery', data: { websiteId, now: new Date() } };
      const { newState } = await handle(eventStore, streamOf(websiteId), (state) => setUp(command, state));
      return OK({ body: newState });
    }),
  );
  router.put(
    '/v1/websites/:websiteId/delivery/checkpoints/:checkpointId',
    on(async ({ params: { websiteId, checkpointId }, body }) => {
      const data = {
        websiteId,
        checkpointId: assertNotEmptyString(checkpointId),
        status: assertStatus(body.status),
        now: new Date(),
      };
      const command = { type: 'SetCheckpointStatus', data };
      const { newState } = await handle(eventStore, streamOf(websiteId), (state) => setStatus(command, state));
      return OK({ body: newState });
    }),
  );
};

const fileName = process.argv[2];
const connection = sqliteConnection({ fileName });
const eventStore = getSQLiteEventStore({ fileName, connectionOptions: { singleton: true, connection } });
await eventStore.schema.migrate();
const server = getApplication({ apis: [deliveryApi(eventStore)] }).listen(0, '127.0.0.1', () => {
  process.send({ url: `http://127.0.0.1:${server.address().port}` });
});
process.on('disconnect', () => process.exit());
