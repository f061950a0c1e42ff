import { afterEach, describe, expect, test } from '@jest/globals';
import { contentDecider } from '../../src/commands/content/content.decider.js';
import type { Engine } from '../../src/engine.js';
import type { FindSiteMedia } from '../../src/events/content/content.files.js';
import { publicationStream } from '../../src/events/publication/publication.stream.js';
import { createGitHub } from '../../src/integrations/sourceHost/github.js';
import type { SourceHost } from '../../src/integrations/sourceHost/port.js';
import { hashOfJson } from '../../src/platform/canonicalJson.js';
import { sleep } from '../../src/platform/clock.js';
import type { KeyedLimit } from '../../src/platform/keyedLimit.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { contentDocumentId, contentProjection, type ContentDocument } from '../../src/projections/content/content.projection.js';
import type { Reader } from '../../src/projections/reader.js';
import { createSiteFilesLimit } from '../../src/workers/media/siteMedia.js';
import { publicationProcess } from '../../src/workers/publication/publication.process.js';
import { createPublicationWorker } from '../../src/workers/publication/publicationWorker.js';
import type { Worker } from '../../src/workers/worker.js';
import { activeWebsite } from '../support/activeWebsite.js';
import { someAdmin } from '../support/given.js';
import { createGitHubFake } from '../support/providers/gitHubFake.js';
import { fetchFrom, type FakeRequest, type TroubleKind } from '../support/providers/wire.js';
import { deployingOn } from '../support/process.js';
import { createTestClock, type TestClock } from '../support/testClock.js';
import { engineOn } from '../workers/engines.js';
import { passTimeUntil, stopInVirtualTime } from '../workers/machine.js';
import { createMemoryStores } from '../workers/memoryStores.js';
import { createRemote, providersOn } from '../workers/remote.js';

const working: { readonly worker: Worker; readonly clock: TestClock }[] = [];
afterEach(async () => {
  for (const { worker, clock } of working.splice(0)) await stopInVirtualTime(clock, worker);
});

/** Each of four files, so that a file a second takes longer than an attempt may without getting anywhere. */
const PICTURES = 90;
const FILES = 4 * PICTURES;
const gallery = Array.from({ length: PICTURES }, (_, index) => ({ mediaId: `p${String(index)}` }));

interface World {
  readonly clock: TestClock;
  /** The types of its events, failures with their errors. Default: of the publication `p1`. */
  readonly types: (publicationId?: string) => Promise<readonly string[]>;
  /** Default: the publication `p1`. */
  readonly request: (publicationId?: string) => Promise<unknown>;
  /** Lets time pass until the publication has ended; resolves with its events. */
  readonly untilDeployed: (publicationId?: string) => Promise<readonly string[]>;
  /** Stops the worker, and starts another one. */
  readonly replaceWorker: () => Promise<void>;
  /** The files that GitHub got, in order. */
  readonly blobs: readonly string[];
  /** What GitHub got in all, as `POST blobs`. */
  readonly steps: readonly string[];
  /** The paths that the newest commit holds. */
  readonly paths: () => readonly string[];
  /** The document as it was saved and published last. */
  readonly document: () => Promise<ContentDocument | null>;
  /** Does that to the document, of which `baseHash` was seen. */
  readonly change: (type: 'SaveContent' | 'RestoreContent', body: unknown, baseHash: string) => Promise<unknown>;
}

/**
 * A website on GitHub, which takes a second for a file, with a document that shows many pictures.
 * @param trouble of the n-th file that is sent, counted from 1
 * @param read comes before the n-th file of a picture is read, counted from 1
 * @param record comes before the worker records that a version was published
 * @param limitSiteFiles which every worker of the world has
 */
const createWorld = async ({
  trouble = () => undefined,
  read = () => Promise.resolve(),
  record = () => Promise.resolve(),
  limitSiteFiles = createSiteFilesLimit(),
}: {
  trouble?: (sent: number) => TroubleKind | undefined;
  read?: (clock: TestClock, count: number) => Promise<void>;
  record?: (hash: string) => Promise<void>;
  limitSiteFiles?: KeyedLimit;
}): Promise<World> => {
  const clock = createTestClock();
  const stores = await createMemoryStores();
  const engine = engineOn(stores, { clock });
  const context = () => ({ commandId: engine.ids.commandId(), actor: someAdmin, requestId: 'request-1' });
  const websiteId = await activeWebsite(engine, context);
  const key = { websiteId, collection: 'content', documentId: 'gallery' } as const;
  const change = (type: 'SaveContent' | 'RestoreContent', body: unknown, baseHash: string | null) =>
    engine.handle(contentDecider, { type, ...key, hash: hashOfJson(body), body, bytes: 1, room: 1, baseHash }, context());
  await change('SaveContent', gallery, null);

  const fake = createGitHubFake({ copying: 0 });
  const blobs: string[] = [];
  const steps: string[] = [];
  let sent = 0;
  const line = async (request: FakeRequest, act: () => ReturnType<typeof fake.provider>) => {
    const step = `${request.method} ${request.path.split('/')[5] ?? ''}`;
    steps.push(step);
    if (step !== 'POST blobs') return { answer: act() };
    await sleep(clock, 1_000);
    sent += 1;
    const what = trouble(sent);
    if (what !== undefined) return { answer: { status: 500 }, trouble: what };
    blobs.push((request.body as { content: string }).content);
    return { answer: act() };
  };
  const { owner, template, token } = fake;
  const gitHub = createGitHub({
    settings: { token, owner, template: { owner, name: template }, apiUrl: 'https://api.example' },
    clock,
    random: systemRandom,
    logger: createLogger({ level: 'silent' }),
    paced: false,
    fetch: fetchFrom(fake.provider, line),
  });
  const { id } = await gitHub.createRepository({ name: 'bakery', templateId: template, marker: 'job', description: 'Bakery' });
  const { sourceHost: remote, hosting } = providersOn(createRemote());
  const sourceHost: SourceHost = {
    ...remote,
    readFiles: (_, paths) => gitHub.readFiles(id, paths),
    listFolder: (_, commit, path) => gitHub.listFolder(id, commit, path),
    commitFiles: (_, made) => gitHub.commitFiles(id, made),
  };

  let reads = 0;
  const variant = (name: string) => ({
    name,
    width: 480,
    type: 'image/webp',
    bytes: 1_000,
    content: async () => {
      await read(clock, (reads += 1));
      return Buffer.from(`\0${name}`);
    },
  });
  const findMedia: FindSiteMedia = (_, mediaId) => {
    const variants = [1, 2, 3, 4].map((width) => variant(`${mediaId}-${String(width)}.webp`));
    return Promise.resolve({ id: mediaId, alt: '', width: 800, height: 600, variants });
  };
  // There are no read models here to list documents from.
  const list = async () => {
    const { document, revision } = await engine.read(contentProjection, contentDocumentId(key));
    return [{ id: key.documentId, body: document, revision }];
  };
  const reader = { ...engine, list: list as unknown as Reader['list'] };
  const handle: Engine['handle'] = async (decider, command, ...more) => {
    const { type, hash } = command as { readonly type: string; readonly hash?: string };
    if (type === 'RecordContentPublished' && hash !== undefined) await record(hash);
    return engine.handle(decider, command, ...more);
  };
  const startWorker = async (): Promise<Worker> => {
    const started = createPublicationWorker({
      ...deployingOn({ ...engine, handle }, { sourceHost, hosting }),
      reader,
      findMedia,
      limitSiteFiles,
    });
    working.push({ worker: started, clock });
    await started.start();
    return started;
  };
  let worker = await startWorker();

  const types = async (publicationId = 'p1'): Promise<string[]> =>
    (await stores.eventStore.readStream(publicationStream.name({ publicationId }))).events.map(({ type, data }) => {
      const { error, provider = '' } = data as { error?: string; provider?: string };
      return error === undefined ? type : `${type} (${provider}): ${error}`;
    });
  return {
    clock,
    types,
    blobs,
    steps,
    replaceWorker: async () => {
      await stopInVirtualTime(clock, worker);
      worker = await startWorker();
    },
    paths: () => [...(fake.repositories.get('bakery')?.commits[0]?.files.keys() ?? [])],
    request: (publicationId = 'p1') =>
      engine.handle(publicationProcess, { type: 'RequestPublication', publicationId, websiteId }, context()),
    untilDeployed: async (publicationId = 'p1') => {
      await passTimeUntil(clock, async () => (await types(publicationId)).at(-1) === 'PublicationDeployed');
      return types(publicationId);
    },
    document: async () => (await engine.read(contentProjection, contentDocumentId(key))).document,
    change,
  };
};

const publish = async ({ request, untilDeployed }: World): Promise<readonly string[]> => {
  await request();
  return untilDeployed();
};

const expectWhole = ({ blobs, steps, paths }: World): void => {
  expect([blobs.length, new Set(blobs).size]).toEqual([FILES, FILES]);
  expect(paths()).toHaveLength(FILES + 1);
  expect(['POST trees', 'POST commits'].map((step) => steps.filter((each) => each === step).length)).toEqual([1, 1]);
};

describe('a publication of many pictures on GitHub', () => {
  test('takes as long as they do, in one attempt', async () => {
    const world = await createWorld({});
    const begunAt = world.clock.now();
    expect(await publish(world)).toEqual([
      'PublicationRequested',
      'PublicationStarted',
      'PublicationCommitted',
      'PublicationDeployed',
    ]);
    expect(world.clock.now() - begunAt).toBeGreaterThanOrEqual(FILES * 1_000);
    expectWhole(world);
  });

  test('goes on after a fault with the files that are missing', async () => {
    const world = await createWorld({ trouble: (sent) => (sent > 200 && sent <= 203 ? '500' : undefined) });
    expect((await publish(world)).slice(1, 4)).toEqual([
      'PublicationStarted',
      'PublicationFailed (GitHub): GitHub answered with status 500',
      'PublicationStarted',
    ]);
    expectWhole(world);
  });

  test('ends an attempt that has run out of time: it sends nothing beside the next one', async () => {
    const world = await createWorld({ read: (clock, count) => (count === 1 ? sleep(clock, 400_000) : Promise.resolve()) });
    expect((await publish(world)).slice(1, 4)).toEqual([
      'PublicationStarted',
      'PublicationFailed (The provider): No answer within 300 s',
      'PublicationStarted',
    ]);
    expectWhole(world);
  });

  test('is left by a worker that stops, and another one goes on', async () => {
    const world = await createWorld({});
    await world.request();
    await passTimeUntil(world.clock, () => Promise.resolve(world.blobs.length >= 100));
    const stoppedAt = world.clock.now();
    await world.replaceWorker();
    expect(world.clock.now() - stoppedAt).toBeLessThan(5_000);
    expect((await world.untilDeployed()).filter((type) => type === 'PublicationStarted')).toHaveLength(2);
    expectWhole(world);
  });
});

describe('a publication that waits while the files of two other websites are held', () => {
  /** Both places are taken until `release`. */
  const whileHeld = () => {
    const limitSiteFiles = createSiteFilesLimit();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const others = ['butcher', 'brewery'].map((id) => limitSiteFiles(id, () => released));
    return { limitSiteFiles, release, ended: Promise.all(others) };
  };
  const isStarted = (world: World) => async () => (await world.types()).includes('PublicationStarted');

  test('is given up by nobody, however long they take', async () => {
    const { limitSiteFiles, release, ended } = whileHeld();
    const world = await createWorld({ limitSiteFiles });
    await world.request();
    await passTimeUntil(world.clock, isStarted(world));
    const startedAt = world.clock.now();
    await passTimeUntil(world.clock, () => Promise.resolve(world.clock.now() - startedAt > 20 * 60_000));
    expect(world.blobs).toEqual([]);
    release();
    await ended;
    expect(await world.untilDeployed()).toEqual([
      'PublicationRequested',
      'PublicationStarted',
      'PublicationCommitted',
      'PublicationDeployed',
    ]);
    expectWhole(world);
  });

  test('is left by a worker that stops, and another one goes on', async () => {
    const { limitSiteFiles, release, ended } = whileHeld();
    const world = await createWorld({ limitSiteFiles });
    await world.request();
    await passTimeUntil(world.clock, isStarted(world));
    const stoppedAt = world.clock.now();
    await world.replaceWorker();
    expect(world.clock.now() - stoppedAt).toBeLessThan(5_000);
    release();
    await ended;
    await world.untilDeployed();
    expectWhole(world);
  });
});

test('a publication that is recorded after a later one leaves what that one has published', async () => {
  const [first, second] = [gallery, [{ mediaId: 'p0' }]].map((body) => hashOfJson(body)) as [string, string];
  let goOn = (): void => undefined;
  const released = new Promise<void>((resolve) => (goOn = resolve));
  let isHeld = false;
  const world = await createWorld({
    record: (hash) => {
      isHeld ||= hash === first;
      return hash === first ? released : Promise.resolve();
    },
  });
  await world.request('p1');
  await passTimeUntil(world.clock, () => Promise.resolve(isHeld));
  await world.change('SaveContent', [{ mediaId: 'p0' }], first);
  await world.request('p2');
  await world.untilDeployed('p2');
  await world.change('RestoreContent', gallery, second);
  goOn();
  await world.untilDeployed('p1');
  expect(await world.document()).toMatchObject({ hash: first, publishedHash: second });
});
