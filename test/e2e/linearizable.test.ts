import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FakeCluster } from '../support/eventStoreDbFake/fakeEventStoreDb.js';
import { eventually } from '../support/eventually.js';
import { createPatientApi, startFleet, type Fleet, type Part } from '../support/fleet.js';
import { judge, wherePorcupineIs, type HistoryAnswer, type Operation } from '../support/porcupine.js';
import { seeded } from '../support/seeded.js';
import { createApi, mintToken, type Api, type ApiAnswer } from '../support/server.js';
import { inStorm } from '../support/storm.js';
import { temporaryFolder } from '../support/temporary.js';

/**
 * Clients of two processes, which are killed (`kill -9`) and paused meanwhile, see what one process
 * that never fails could have shown them (linearizability). Porcupine judges.
 */
const rounds = inStorm({ short: 1, gate: 6, long: 30 });
const faultsOfRound = inStorm({ short: 3, gate: 4, long: 4 });
/** On a busy machine the faults must not be faster than the work. */
const answersBetween = 40;
const lanes = 8;
const people = ['anna@example.com', 'ben@example.com'];

const eventStores = [
  { name: 'the embedded event store', start: () => Promise.resolve({ settings: {}, stop: (): void => undefined }) },
  {
    name: 'a fake EventStoreDB',
    start: async () => {
      const fake = await FakeCluster.start();
      const settings = { EVENT_STORE_URL: fake.url, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };
      return {
        settings,
        stop: (): void => {
          fake.stop();
        },
      };
    },
  },
].slice(0, inStorm({ short: 1, gate: 2, long: 2 }));

wherePorcupineIs(() => {
  describe('the judge', () => {
    const block = { register: 'block', client: 0 };
    const written = {
      ...block,
      does: 'replaceBlock',
      value: 'one',
      call: 1,
      return: 2,
      answer: { status: 200, revision: 0, value: 'one' },
    } as const;
    const unanswered = { ...block, does: 'replaceBlock', value: 'two', call: 3 } as const;
    const reads = (call: number, revision: number, value: string) =>
      ({ ...block, does: 'readBlock', call, return: call + 1, answer: { status: 200, revision, value } }) as const;
    const access = { register: 'anna', client: 0 };
    const linked = {
      ...access,
      does: 'link',
      value: 'viewer',
      call: 1,
      return: 2,
      answer: { status: 201, value: 'viewer' },
    } as const;
    const unlinked = { ...access, does: 'unlink', call: 3, return: 6, answer: { status: 204 } } as const;
    const sees = (call: number) =>
      ({ ...access, does: 'see', call, return: call + 1, answer: { status: 200, value: 'viewer' } }) as const;
    const sent = (expects: number) =>
      ({ ...unanswered, expects, return: 4, answer: { status: 200, revision: 1, value: 'two' } }) as const;

    test.each<readonly [string, readonly Operation[]]>([
      ['a write without an answer that is seen later', [written, unanswered, reads(4, 0, 'one'), reads(6, 1, 'two')]],
      ['a write without an answer that is never seen', [written, unanswered, reads(4, 0, 'one'), reads(6, 0, 'one')]],
      ['access that is seen until its removal is answered', [linked, unlinked, sees(4)]],
      ['a write at the revision that it names', [written, sent(0)]],
    ])('accepts %s', async (_, history) => {
      expect(await judge(history)).toBe('');
    });

    test.each<readonly [string, readonly Operation[]]>([
      ['a read that is stale', [written, sent(0), reads(6, 0, 'one')]],
      ['a write that is gone', [written, { ...block, does: 'readBlock', call: 3, return: 4, answer: { status: 404 } }]],
      ['a write that is seen, and then is not', [written, unanswered, reads(4, 1, 'two'), reads(6, 0, 'one')]],
      ['access that is seen after its removal was answered', [linked, unlinked, sees(7)]],
      ['a write at another revision than it names', [written, sent(3)]],
      ['an answer that the model does not have', [{ ...written, answer: { status: 400, value: 'invalid_body' } }]],
    ])('refuses %s', async (_, history) => {
      expect(await judge(history)).toMatch(/^(block|anna) is not linearizable/);
    });
  });

  describe.each(eventStores)('two processes on $name', ({ start }) => {
    const seed = Number(process.env['DOORSTEP_SEED'] ?? randomInt(2 ** 31));
    const chance = seeded(seed);
    const dataDir = temporaryFolder();
    let store: Awaited<ReturnType<typeof start>>;
    let fleet: Fleet;
    let callers: readonly Callers[];
    let patient: Api;
    let clientIds: readonly string[];

    beforeAll(async () => {
      process.stderr.write(`linearizable: DOORSTEP_SEED=${String(seed)}\n`);
      store = await start();
      const token = await mintToken(dataDir, 'admin', 'ops@example.com', store.settings);
      const tokens: string[] = [];
      for (const email of people) tokens.push(await mintToken(dataDir, 'client', email, store.settings));
      fleet = await startFleet(dataDir, ['api,projector', 'api,projector'], store.settings);
      await fleet.ready();
      callers = fleet.addresses.map((address) => ({
        admin: createApi(address, token),
        people: tokens.map((theirs) => createApi(address, theirs)),
      }));
      patient = createPatientApi(token, () => fleet.addresses[0] ?? '');
      const clients = await Promise.all(people.map((email) => patient.post('/clients', { email })));
      clientIds = clients.map(({ body }) => (body as { id: string }).id);
    }, 60_000);

    afterAll(async () => {
      await fleet.stop();
      store.stop();
    });

    test.each(Array.from({ length: rounds }, (_, round) => ({ round })))(
      'killed and paused under load, they answer as one that never fails (round $round)',
      async ({ round }) => {
        const { body } = await patient.post('/websites', { name: 'Judged', slug: `judged-${String(round)}` });
        const world = { callers, path: `/websites/${(body as { id: string }).id}`, clientIds, chance };
        const history = createHistory();
        let raging = true;
        const working = Array.from({ length: lanes }, (_, lane) =>
          ask(world, history, lane, () => raging).finally(() => {
            raging = false;
          }),
        );
        for (let fault = 0; fault < faultsOfRound; fault += 1) {
          const struck = Math.floor(chance() * fleet.parts.length);
          const part = fleet.parts[struck] as Part;
          const enough = history.answersOf(struck) + answersBetween;
          await eventually('answers of it', () => history.answersOf(struck) >= enough || !raging || undefined, 60_000);
          await pause(chance() * 300);
          await (chance() < 0.75 ? part.strike() : sleeping(part, 50 + chance() * 300));
        }
        await fleet.ready();
        raging = false;
        await Promise.all(working);

        const { operations } = history;
        const file = join(tmpdir(), `doorstep-history-${String(seed)}-${String(round)}`);
        const verdict = await judge(operations, `${file}.html`);
        if (verdict !== '') await writeFile(`${file}.json`, JSON.stringify(operations));
        expect(verdict).toBe('');
        // And it would have said so.
        expect(await judge(withStaleRead(operations))).toMatch(/ is not linearizable/);
      },
      120_000,
    );
  });
});

/** One process, as an admin and as the people ask it. */
interface Callers {
  readonly admin: Api;
  readonly people: readonly Api[];
}

interface World {
  readonly callers: readonly Callers[];
  /** Of the website. */
  readonly path: string;
  readonly clientIds: readonly string[];
  readonly chance: () => number;
}

type Request = Pick<Operation, 'register' | 'does' | 'value' | 'expects'>;

interface History {
  readonly operations: readonly Operation[];
  /** How many requests the process has answered. */
  answersOf(place: number): number;
  /**
   * Sends a request and records it, unless it cannot have had an effect that anybody sees.
   * @returns what was answered; `undefined` when it is not known whether it was carried out
   */
  record(
    client: number,
    place: number,
    request: Request,
    send: () => Promise<ApiAnswer>,
    read: (answer: ApiAnswer) => HistoryAnswer,
  ): Promise<ApiAnswer | undefined>;
}

const createHistory = (): History => {
  const operations: Operation[] = [];
  const answers: number[] = [];
  let now = 0;
  return {
    operations,
    answersOf: (place) => answers[place] ?? 0,
    record: async (client, place, request, send, read) => {
      const call = (now += 1);
      const asked = { ...request, client, call };
      const isWrite = request.does !== 'readBlock' && request.does !== 'see';
      try {
        const answer = await send();
        if (answer.status < 500) {
          operations.push({ ...asked, return: (now += 1), answer: read(answer) });
          answers[place] = (answers[place] ?? 0) + 1;
          return answer;
        }
        expect(answer.status).toBe(503);
      } catch (error) {
        // `fetch` throws a TypeError for a broken or refused connection; anything else is a bug.
        if (!/^TypeError: (fetch failed|terminated)/.test(String(error))) throw error;
        if ((error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED') {
          await pause(20);
          return undefined;
        }
      }
      if (isWrite) operations.push(asked);
      return undefined;
    },
  };
};

/** The client that asks for the block, and who reads and changes the access of people, until it is over. */
const ask = async (world: World, history: History, lane: number, goesOn: () => boolean): Promise<void> => {
  const { chance, callers, clientIds } = world;
  const askBlock = createBlockClient(world, history, lane);
  while (goesOn()) {
    const place = Math.floor(chance() * callers.length);
    const person = Math.floor(chance() * (clientIds.length + 1));
    if (person === clientIds.length) await askBlock(place);
    else await askAccess(world, history, lane, place, person);
  }
};

/** Reads and replaces the block, often at the revision that this client saw last. */
const createBlockClient = ({ chance, callers, path }: World, history: History, lane: number) => {
  let known: { readonly etag: string; readonly revision: number; readonly value: string } | undefined;
  let made = 0;

  const read = ({ status, body, headers }: ApiAnswer): HistoryAnswer => {
    if (status === 304) return { status: 200, revision: known?.revision ?? -1, value: known?.value ?? '' };
    if (status !== 200) return refusal(status, body, ['delivery_not_set_up', 'stale']);
    const { revision, checkpoints } = body as { revision: number; checkpoints: { label: string }[] };
    known = { etag: headers.get('etag') ?? '', revision, value: checkpoints[0]?.label ?? '' };
    return { status, revision, value: known.value };
  };

  return async (place: number): Promise<void> => {
    const { admin } = callers[place] as Callers;
    const register = 'delivery';
    const isConditional = known !== undefined && chance() < 0.6;
    if (chance() < 0.5) {
      const headers = isConditional && known !== undefined ? { 'if-none-match': known.etag } : {};
      await history.record(lane, place, { register, does: 'readBlock' }, () => admin.get(`${path}/delivery`, headers), read);
      return;
    }
    made += 1;
    // The same again changes nothing.
    const value = known !== undefined && chance() < 0.15 ? known.value : `${String(lane)}-${String(made)}`;
    const body = {
      estimatedCompletionAt: '2030-01-01T00:00:00.000Z',
      showPreviewUrl: true,
      checkpoints: [{ id: 'only', label: value, order: 10, status: 'pending' }],
    };
    const at = isConditional ? known : undefined;
    const request = { register, does: 'replaceBlock', value, ...(at !== undefined && { expects: at.revision }) } as const;
    const headers = at === undefined ? {} : { 'if-match': at.etag };
    await history.record(lane, place, request, () => admin.put(`${path}/delivery`, body, headers), read);
  };
};

/** Reads the website as a person, or gives, changes or takes away their access. */
const askAccess = async (world: World, history: History, lane: number, place: number, person: number): Promise<void> => {
  const { chance, callers, path, clientIds } = world;
  const { admin, people: clients } = callers[place] as Callers;
  const link = `${path}/clients/${clientIds[person] ?? ''}`;
  const register = people[person] ?? '';
  const value = chance() < 0.5 ? 'viewer' : 'editor';
  const read = ({ status, body }: ApiAnswer): HistoryAnswer => {
    if (status >= 300) return refusal(status, body, ['not_authorized_for_website', 'link_not_found']);
    if (status === 204) return { status };
    const { role, link: made } = body as { role?: string; link?: { role: string } };
    return { status, value: made?.role ?? role ?? 'no role' };
  };
  const record = (request: Omit<Request, 'register'>, send: () => Promise<ApiAnswer>): Promise<ApiAnswer | undefined> =>
    history.record(lane, place, { register, ...request }, send, read);

  const which = chance();
  if (which < 0.5) await record({ does: 'see' }, () => (clients[person] as Api).get(path));
  else if (which < 0.7)
    await record({ does: 'link', value }, () => admin.post(`${path}/clients`, { email: register, role: value }));
  else if (which < 0.82) await record({ does: 'changeRole', value }, () => admin.patch(link, { role: value }));
  else await record({ does: 'unlink' }, () => admin.delete(link));
};

/** Names any other refusal, which the model does not have. */
const refusal = (status: number, body: unknown, expected: readonly string[]): HistoryAnswer => {
  const { code } = body as { code: string };
  return { status, ...(!expected.includes(code) && { value: code }) };
};

const sleeping = async ({ process: { pid } }: Part, ms: number): Promise<void> => {
  process.kill(pid, 'SIGSTOP');
  await pause(ms);
  process.kill(pid, 'SIGCONT');
};

/** The history with one read that shows the state before a write that had been answered. */
const withStaleRead = (operations: readonly Operation[]): readonly Operation[] => {
  for (const write of operations) {
    const { does, value, answer, return: written = Infinity } = write;
    if (does !== 'replaceBlock' || answer?.status !== 200 || answer.revision === 0) continue;
    const read = operations.find(
      (other) => other.does === 'readBlock' && other.call > written && other.answer?.revision === answer.revision,
    );
    const before = operations.find(
      ({ answer: other }) => other?.revision === Number(answer.revision) - 1 && other.status === 200,
    );
    if (read === undefined || before?.answer === undefined || before.answer.value === value) continue;
    return operations.map((operation) => (operation === read ? { ...read, answer: before.answer } : operation)) as Operation[];
  }
  throw new Error('no read came after a write');
};
