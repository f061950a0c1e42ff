import { describe, expect, test } from '@jest/globals';
import { createGitHub } from '../../src/integrations/sourceHost/github.js';
import type { SourceHost } from '../../src/integrations/sourceHost/port.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { hastyClock } from '../support/provider.js';
import { createGitHubFake } from '../support/providers/gitHubFake.js';
import type { FakeRepository } from '../support/providers/gitHubFakeRepository.js';
import { serveFake, type FakeProvider, type FakeRequest, type ServedFake } from '../support/providers/wire.js';

/** What is sent to GitHub for a commit of many files, which it takes one a second. */

interface Opened {
  readonly host: SourceHost;
  readonly served: ServedFake;
  readonly repository: FakeRepository;
  /** The requests so far, as `POST blobs`, and forgets them. */
  sent(): readonly string[];
  /** Commits on top of the newest one. */
  commit(files: ReadonlyMap<string, Uint8Array>, assertHeld?: () => void): Promise<string | null>;
}

/** @param options `wrap`: answers some of the requests otherwise */
const open = async (
  options: { readonly wrap?: (provider: FakeProvider) => FakeProvider; readonly paced?: boolean } = {},
): Promise<Opened> => {
  const { wrap = (provider: FakeProvider): FakeProvider => provider, paced = false } = options;
  const fake = createGitHubFake({ copying: 0 });
  const served = await serveFake(wrap(fake.provider));
  const { owner, template, token } = fake;
  const host = createGitHub({
    settings: { token, owner, template: { owner, name: template }, apiUrl: served.url },
    clock: hastyClock(50),
    random: systemRandom,
    logger: createLogger({ level: 'silent' }),
    paced,
    timeoutMs: 250_000,
  });
  const request = { name: 'site', templateId: template, marker: 'job', description: 'Website of Acme' };
  const { id } = await host.createRepository(request);
  const repository = fake.repositories.get('site');
  if (repository === undefined) throw new Error('there is no repository');
  let seen = served.requests.length;
  return {
    host,
    served,
    repository,
    sent: () => {
      const requests = served.requests.slice(seen);
      seen = served.requests.length;
      return requests.map(stepOf);
    },
    commit: async (files, assertHeld = () => undefined) => {
      const { head } = await host.readFiles(id, []);
      return host.commitFiles(id, { parent: head, files, message: 'Publish', assertHeld });
    },
  };
};

const stepOf = ({ method, path }: FakeRequest): string => `${method} ${path.split('/')[5] ?? ''}`;
const isSent = (request: FakeRequest): boolean => stepOf(request) === 'POST blobs';

const picture = (name: string): Buffer => Buffer.concat([Buffer.from([0x89, 0]), Buffer.from(name)]);
const text = (words: string): Buffer => Buffer.from(JSON.stringify({ words }));

/** Pictures of four files each, and the document that shows them. */
const publicationOf = (pictures: number, words: string): Map<string, Uint8Array> => {
  const files = new Map<string, Uint8Array>();
  for (let index = 0; index < pictures; index += 1) {
    for (const width of [480, 960, 1200, 1800]) {
      const path = `media/p${String(index)}/${String(width)}.webp`;
      files.set(path, picture(path));
    }
  }
  return files.set('_data/company.json', text(words));
};

/** Which contents were sent, each in base64. */
const contentsOf = ({ requests }: ServedFake): readonly string[] =>
  requests.filter(isSent).map(({ body }) => (body as { content: string }).content);
const treesOf = ({ requests }: ServedFake): readonly (readonly string[])[] =>
  requests
    .filter((request) => stepOf(request) === 'POST trees')
    .map(({ body }) => (body as { tree: { path: string }[] }).tree.map(({ path }) => path));
const count = (steps: readonly string[], step: string): number => steps.filter((each) => each === step).length;
const expectHeld = ({ repository }: Opened, files: ReadonlyMap<string, Uint8Array>): void => {
  const there = repository.commits[0]?.files;
  for (const [path, content] of files) expect([path, there?.get(path)]).toEqual([path, Buffer.from(content).toString('base64')]);
};

describe('a commit of many pictures', () => {
  test('sends each file once, and the next one nothing but the text that has changed', async () => {
    const opened = await open();
    const first = publicationOf(30, 'Bread');
    await opened.commit(first);
    const steps = opened.sent();
    expect([count(steps, 'POST blobs'), count(steps, 'POST trees'), count(steps, 'POST commits')]).toEqual([120, 1, 1]);
    expect(new Set(contentsOf(opened.served)).size).toBe(120);
    expectHeld(opened, first);

    const second = publicationOf(30, 'Cake');
    await opened.commit(second);
    expect(opened.sent().filter((step) => !step.startsWith('GET'))).toEqual(['POST trees', 'POST commits', 'PATCH refs']);
    expect(treesOf(opened.served).at(-1)).toEqual(['_data/company.json']);
    expectHeld(opened, second);

    await opened.commit(second);
    expect(opened.sent().filter((step) => !step.startsWith('GET'))).toEqual([]);
    expect(opened.served.complaints).toEqual([]);
  });

  test('sends a content once that stands at several places, or stood elsewhere before', async () => {
    const opened = await open();
    await opened.commit(new Map([['old.bin', picture('same')]]));
    const files = new Map([
      ['new.bin', picture('same')],
      ['one.bin', picture('other')],
      ['two.bin', picture('other')],
    ]);
    await opened.commit(files);
    expect(contentsOf(opened.served)).toHaveLength(2);
    expectHeld(opened, files);
  });

  test('sends nothing once its lease is gone, and the next attempt sends only what is missing', async () => {
    const opened = await open();
    const files = publicationOf(5, 'Bread');
    const lost = new Error('the lease has lapsed');
    const assertHeld = (): void => {
      if (contentsOf(opened.served).length >= 7) throw lost;
    };
    await expect(opened.commit(files, assertHeld)).rejects.toBe(lost);
    expect(opened.sent().at(-1)).toBe('POST blobs');
    expect([contentsOf(opened.served).length, opened.repository.commits.length]).toEqual([7, 1]);

    await opened.commit(files);
    expect(count(opened.sent(), 'POST blobs')).toBe(13);
    expect(new Set(contentsOf(opened.served)).size).toBe(20);
    expectHeld(opened, files);
    expect(opened.served.complaints).toEqual([]);
  });

  test('does not send what has waited in the queue until the lease was gone', async () => {
    const opened = await open({ paced: true });
    const lost = new Error('the lease has lapsed');
    const assertHeld = (): void => {
      if (opened.served.requests.some((request) => stepOf(request) === 'HEAD blobs')) throw lost;
    };
    await expect(opened.commit(publicationOf(1, 'Bread'), assertHeld)).rejects.toBe(lost);
    expect(count(opened.sent(), 'POST blobs')).toBe(0);
  });

  test('survives faults of single requests, because to send a file again changes nothing', async () => {
    const opened = await open();
    const files = publicationOf(2, 'Bread');
    let faults = 0;
    opened.served.trouble((request) => {
      const isFaulty = (isSent(request) || stepOf(request) === 'POST trees') && (faults += 1) % 2 === 1;
      return isFaulty ? { when: 'after', what: faults % 4 === 1 ? '500' : 'reset' } : undefined;
    });
    expect(await opened.commit(files)).toMatch(/^[0-9a-f]{40}$/);
    expect(faults).toBe(2 * 9);
    expectHeld(opened, files);
  });

  test('sends nothing that is there already though its list is cut off', async () => {
    const opened = await open();
    const files = publicationOf(3, 'Bread');
    await opened.commit(files);
    opened.sent();
    opened.repository.maxTreeEntries = 5;
    await opened.commit(files);
    expect(opened.sent().filter((step) => !/^(GET|HEAD)/.test(step))).toEqual(['POST trees']);
    const changed = publicationOf(3, 'Cake');
    await opened.commit(changed);
    expect(count(opened.sent(), 'POST blobs')).toBe(0);
    expectHeld(opened, changed);
    expect(opened.served.complaints).toEqual([]);
  });
});

test('texts go along with the tree up to a megabyte in all, and then as files of their own', async () => {
  const opened = await open();
  const files = new Map(
    ['a', 'b', 'c', 'd'].map((name) => [`_content/${name}.json`, text(name.repeat(300_000))] as [string, Uint8Array]),
  );
  files.set('empty.txt', new Uint8Array());
  await opened.commit(files);
  expect(contentsOf(opened.served).map((content) => Buffer.from(content, 'base64').length)).toEqual([300_012, 0]);
  expectHeld(opened, files);
});

test('a limit that refuses the question whether a file is there is told by the refusal of the file itself', async () => {
  const wrap =
    (provider: FakeProvider): FakeProvider =>
    (request) => {
      const step = stepOf(request);
      if (step === 'HEAD blobs') return { status: 403 };
      const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
      return step === 'POST blobs' ? { status: 403, body: { message } } : provider(request);
    };
  const opened = await open({ wrap });
  await expect(opened.commit(publicationOf(1, 'Bread'))).rejects.toMatchObject({
    name: 'ProviderFault',
    transient: true,
    retryAfterMs: 60_000,
  });
});
