import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../src/platform/clock.js';
import { systemRandom } from '../../src/platform/random.js';
import type { Decode } from '../../src/projections/runner/foldDocuments.js';
import { readList } from '../../src/projections/runner/readList.js';
import { rebuildProjection } from '../../src/projections/runner/rebuild.js';
import { createMetrics, noWork } from '../../src/http/metrics.js';
import { projectionStatus } from '../../src/projections/runner/status.js';
import { ReadModelDropped } from '../../src/projections/store/readModelStore.js';
import { mongoReadModels } from '../support/mongoDatabase.js';
import { forEachReadModelServer } from '../support/realServers.js';
import { added, decodeThing, expectFolded, labelled, thingProjection, thingWorld, untilReached } from '../support/things.js';

forEachReadModelServer((server) => {
  describe(`the runner on ${server.name}`, () => {
    const open = () => thingWorld(systemClock, mongoReadModels(server));

    test('a list in one process holds what was appended before it, with the projector in another', async () => {
      const { append, projector, openReadModels, eventStore } = await open();
      await projector({ readModels: await openReadModels() }).start();
      const api = { eventStore, readModels: await openReadModels(), clock: systemClock };
      for (let n = 0; n < 15; n += 1) {
        const id = `t${String(n).padStart(2, '0')}`;
        await append(added(id, 'shared'));
        const listed = await readList(thingProjection, { where: { label: 'shared' }, order: 'descending', limit: 3 }, api);
        expect(listed.at(0)?.id).toBe(id);
      }
    });

    test('a document that is too large is parked as it was, and named; other documents, and the projection, go on', async () => {
      const { append, projector, openReadModels, eventStore } = await open();
      const readModels = await openReadModels();
      // As if many events had made it grow: one holds 1 MB at most.
      const decode: Decode = (stored) => {
        const event = decodeThing(stored);
        const data = event.data as { readonly label?: string };
        return data.label === 'grows' ? { ...event, data: { ...data, label: 'x'.repeat(17_000_000) } } : event;
      };
      await projector({ readModels, decode }).start();
      await append(added('a'), added('b'));
      await untilReached(thingProjection, readModels, await eventStore.lastPosition());
      await append(labelled('a', 'grows'), labelled('b', 'after'));
      await append(labelled('a', 'smaller'), added('c'));
      const end = await eventStore.lastPosition();
      await untilReached(thingProjection, readModels, end);

      const model = { ...thingProjection, version: '1' };
      const stored = await readModels.getMany(model, ['a', 'b', 'c']);
      expect(['a', 'b', 'c'].map((id) => stored.get(id)?.body['label'])).toEqual(['a', 'after', 'c']);
      const [status] = await projectionStatus([thingProjection], { eventStore, readModels, clock: systemClock });
      expect(status).toMatchObject({ state: 'live', failure: null, parked: [{ id: 'a' }], lag: { positions: 0n } });
      const metrics = await createMetrics().text(status === undefined ? [] : [status], noWork);
      expect(metrics).toMatch(/^projection_parked_documents\{projection="thing"\} 1$/m);
    });

    test('concurrent rebuilds, with a projector and lists running, end with one version that equals the fresh fold', async () => {
      const world = await open();
      const { append, projector, openReadModels, eventStore, readModels } = world;
      await projector({ readModels: await openReadModels() }).start();
      for (let n = 0; n < 40; n += 1)
        await append(added(`t${String(n % 10)}`), labelled(`t${String(n % 7)}`, `label ${String(n)}`));

      const rebuild = async (): Promise<string | null> => {
        const parts = {
          projections: [thingProjection],
          eventStore,
          readModels: await openReadModels(),
          decode: decodeThing,
          clock: systemClock,
          random: systemRandom,
        };
        try {
          return (await rebuildProjection('thing', parts)).version;
        } catch (fault) {
          if (!(fault instanceof ReadModelDropped)) throw fault;
          return null;
        }
      };
      let rebuilding = true;
      const lists = async (): Promise<number> => {
        const api = { eventStore, readModels: await openReadModels(), clock: systemClock };
        let asked = 0;
        while (rebuilding) {
          const id = `during-${String(asked)}`;
          await append(added(id, 'during'));
          const listed = await readList(thingProjection, { where: { label: 'during' }, order: 'ascending', limit: 1_000 }, api);
          expect(listed.map((document) => document.id)).toContain(id);
          asked += 1;
        }
        return asked;
      };
      const listing = lists();
      const versions = await Promise.all([rebuild(), rebuild()]);
      rebuilding = false;
      expect(await listing).toBeGreaterThan(0);

      expect(versions).toContain(await readModels.liveVersion('thing'));
      await untilReached(thingProjection, readModels, await append(added('last')));
      await expectFolded(thingProjection, readModels, eventStore);
      expect(await projectionStatus([thingProjection], { eventStore, readModels, clock: systemClock })).toMatchObject([
        { state: 'live', lag: { positions: 0n } },
      ]);
    });
  });
});
