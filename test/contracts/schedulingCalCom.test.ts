import { beforeEach, describe, expect, test } from '@jest/globals';
import { ProviderFault } from '../../src/integrations/fault.js';
import { createCalCom } from '../../src/integrations/scheduling/calCom.js';
import type { Booking, BookingsQuery, Scheduling } from '../../src/integrations/scheduling/port.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { hastyClock, startProvider, type Provider, type ProviderAnswer, type ProviderRequest } from '../support/provider.js';

const apiKey = 'cal_live_canary31';

interface Entry {
  readonly uid: string;
  readonly eventTypeId: number;
  readonly start: string;
  readonly end: string;
  readonly status: string;
}

/**
 * Query parameters of `GET /v2/bookings`, version 2024-08-13, and what each may be
 * (https://cal.com/docs/api-reference/v2/bookings).
 */
const parameters: Readonly<Record<string, RegExp>> = {
  status: /^(upcoming|recurring|past|cancelled|unconfirmed)(,|$)/,
  eventTypeIds: /^\d+(,\d+)*$/,
  afterStart: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  beforeEnd: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  sortStart: /^(asc|desc)$/,
  take: /^([1-9]|\d\d|1\d\d|2[0-4]\d|250)$/,
  skip: /^\d+$/,
};

const error = (status: number, message: string): ProviderAnswer => ({
  status,
  body: { status: 'error', timestamp: '2026-06-01T00:00:00.000Z', path: '/v2', error: { code: 'Error', message, details: {} } },
});

/** A booking in all the fields of `BookingOutput_2024_08_13` that are not optional. */
const written = ({ uid, eventTypeId, start, end, status }: Entry, id: number) => ({
  id,
  uid,
  title: `Tasting ${uid}`,
  description: '',
  hosts: [
    { id: 1, name: 'Jo', email: 'jo@example.com', displayEmail: 'jo@example.com', username: 'jo', timeZone: 'Europe/London' },
  ],
  status,
  start,
  end,
  duration: 30,
  eventTypeId,
  eventType: { id: eventTypeId, slug: 'any' },
  location: uid === 'b1' ? 'In the shop' : null,
  absentHost: false,
  createdAt: start,
  updatedAt: null,
  attendees: [
    {
      name: 'Ada',
      email: 'ada@example.com',
      displayEmail: 'ada@example.com',
      timeZone: 'Europe/London',
      absent: false,
      language: 'en',
    },
  ],
  bookingFieldsResponses: {},
});

/** Cal.com with these event types and bookings. */
const calComWith =
  (eventTypes: readonly { id: number; slug: string }[], entries: readonly Entry[]) =>
  ({ method, url, headers }: ProviderRequest): ProviderAnswer => {
    if (method !== 'GET') return error(404, `Cannot ${method} ${url.pathname}`);
    if (headers.authorization !== `Bearer ${apiKey}`) return error(401, 'Invalid API Key');
    const version = headers['cal-api-version'];
    if (url.pathname === '/v2/event-types') {
      if (version !== '2024-06-14' || url.search !== '') return error(400, 'Bad Request');
      return {
        status: 200,
        body: { status: 'success', data: eventTypes.map((type) => ({ ...type, lengthInMinutes: 30, title: type.slug })) },
      };
    }
    if (url.pathname !== '/v2/bookings' || version !== '2024-08-13') return error(404, 'Not found');
    const asked = Object.fromEntries(url.searchParams);
    const wrong = Object.entries(asked).find(([name, value]) => parameters[name]?.test(value) !== true);
    if (wrong !== undefined) return error(400, `${wrong[0]} is wrong`);
    const ids = asked.eventTypeIds?.split(',').map(Number);
    const found = entries
      .filter(({ eventTypeId }) => ids?.includes(eventTypeId) ?? true)
      .filter(({ start, end }) => start >= (asked.afterStart ?? '') && end <= (asked.beforeEnd ?? '9'))
      .sort((one, other) => (one.start < other.start ? -1 : 1) * (asked.sortStart === 'desc' ? -1 : 1));
    const skip = Number(asked.skip ?? 0);
    const data = found.slice(skip, skip + Number(asked.take ?? 100)).map(written);
    const pagination = { totalItems: found.length, returnedItems: data.length, hasNextPage: skip + data.length < found.length };
    return { status: 200, body: { status: 'success', data, pagination } };
  };

const entry = (uid: string, eventTypeId: number, hour: number, status = 'accepted'): Entry => ({
  uid,
  eventTypeId,
  start: `2026-06-01T${String(hour).padStart(2, '0')}:00:00Z`,
  end: `2026-06-01T${String(hour).padStart(2, '0')}:30:00Z`,
  status,
});
const eventTypes = [
  { id: 7, slug: 'bakery' },
  { id: 8, slug: 'bakery-two' },
  { id: 9, slug: 'bakery' },
];
const entries = [
  entry('b3', 9, 15, 'cancelled'),
  entry('b1', 7, 9),
  entry('b2', 7, 11, 'pending'),
  entry('x1', 8, 10),
  entry('b0', 7, 6),
];

const query: BookingsQuery = { site: { websiteId: 'w1', slug: 'bakery' }, from: '2026-06-01T08:00:00.000Z', limit: 10 };

let provider: Provider;
let logged: string[];
let calCom: Scheduling;

const openWith = (key: string): Scheduling => {
  const logger = createLogger({ level: 'trace', destination: { write: (line: string) => void logged.push(line) } });
  return createCalCom({ url: provider.url, apiKey: key, clock: hastyClock(), random: systemRandom, logger });
};

beforeEach(async () => {
  provider = await startProvider(calComWith(eventTypes, entries));
  logged = [];
  calCom = openWith(apiKey);
});

const idsOf = (bookings: readonly Booking[]): string[] => bookings.map(({ id }) => id);

const faultOf = async (work: Promise<unknown>): Promise<ProviderFault> => {
  const fault: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (fault instanceof ProviderFault) return fault;
  throw new Error(`no fault of the provider: ${String(fault)}`);
};

describe('bookings of Cal.com', () => {
  test('are those of the event types with the website’s slug, the earliest first', async () => {
    const bookings = await calCom.bookings(query);
    expect(idsOf(bookings)).toStrictEqual(['b1', 'b2', 'b3']);
    expect(bookings[0]).toStrictEqual({
      id: 'b1',
      title: 'Tasting b1',
      status: 'accepted',
      start: '2026-06-01T09:00:00.000Z',
      end: '2026-06-01T09:30:00.000Z',
      location: 'In the shop',
      attendees: [{ name: 'Ada', email: 'ada@example.com' }],
    });
  });

  test('of a website without event types are empty, whatever else was booked', async () => {
    expect(await calCom.bookings({ ...query, site: { websiteId: 'w2', slug: 'butcher' } })).toStrictEqual([]);
    expect(provider.requests).toHaveLength(1);
  });

  test('are those of the event types of an attached service, if it names some', async () => {
    expect(idsOf(await calCom.bookings({ ...query, site: { ...query.site, eventTypeIds: [8] } }))).toStrictEqual(['x1']);
  });

  test('are counted on all pages', async () => {
    const { limit: _, ...filter } = query;
    expect(await calCom.count(filter)).toBe(3);
    expect(await calCom.count({ ...filter, to: '2026-06-01T12:00:00.000Z' })).toBe(2);
    expect(await calCom.count({ ...filter, site: { websiteId: 'w2', slug: 'butcher' } })).toBe(0);
  });

  test('come in pages, and within times', async () => {
    const after = { id: 'b1', start: '2026-06-01T09:00:00.000Z', nth: 1 };
    expect(idsOf(await calCom.bookings({ ...query, after, limit: 1 }))).toStrictEqual(['b2']);
    expect(idsOf(await calCom.bookings({ ...query, after: { ...after, nth: 0 }, limit: 1 }))).toStrictEqual(['b1']);
    expect(idsOf(await calCom.bookings({ ...query, to: '2026-06-01T12:00:00.000Z' }))).toStrictEqual(['b1', 'b2']);
  });
});

describe('when Cal.com', () => {
  test('refuses the key, the fault says so without the key', async () => {
    const fault = await faultOf(openWith('cal_wrong').bookings(query));
    expect(fault).toMatchObject({ provider: 'Cal.com', transient: false, message: 'the API key is not accepted' });
  });

  test.each(['broken', 'reset', 'silent', 'slow'] as const)('is %s once, the request is retried', async (kind) => {
    provider.mishaps.push({ kind });
    expect(await calCom.bookings(query)).toHaveLength(3);
    expect(provider.requests).toHaveLength(3);
  });

  test('asks to wait, no request is sent until then', async () => {
    provider.mishaps.push({ kind: 'limited', retryAfter: '60' });
    expect(await faultOf(calCom.bookings(query))).toMatchObject({ transient: true, retryAfterMs: 60_000 });
    await faultOf(calCom.bookings(query));
    expect(provider.requests).toHaveLength(1);
  });

  test.each(['garbled', 'strange'] as const)('answers something %s, a fault says so', async (kind) => {
    provider.mishaps.push({ kind });
    expect(await faultOf(calCom.bookings(query))).toMatchObject({ transient: true, provider: 'Cal.com' });
  });

  test('keeps failing, the retries end, and the key is in no log', async () => {
    provider.mishaps.push(...Array.from({ length: 3 }, () => ({ kind: 'broken' }) as const));
    expect(await faultOf(calCom.bookings(query))).toMatchObject({ transient: true });
    expect(logged.join('')).toContain('"providerRequestId":"r3"');
    expect(logged.join('')).not.toContain(apiKey);
  });
});
