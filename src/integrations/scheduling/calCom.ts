import { Type, type Static } from 'typebox';
import { createCache } from '../../platform/cache.js';
import { isoTime, type Clock } from '../../platform/clock.js';
import type { Logger } from '../../platform/logger.js';
import type { Random } from '../../platform/random.js';
import { ProviderFault } from '../fault.js';
import { createProviderHttp, parserFor, parseJson, type ProviderHttp } from '../http.js';
import type { Booking, BookingsFilter, Scheduling, SchedulingSite } from './port.js';

const provider = 'Cal.com';

/** Each resource has its own version. Without the header, Cal.com answers with an older one. */
const versions = { bookings: '2024-08-13', 'event-types': '2024-06-14' } as const;

const CalBooking = Type.Object({
  uid: Type.String(),
  title: Type.String(),
  status: Type.Enum(['accepted', 'pending', 'cancelled', 'rejected']),
  start: Type.String(),
  end: Type.String(),
  location: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  attendees: Type.Array(Type.Object({ name: Type.String(), email: Type.Optional(Type.String()) })),
});
const parseBookings = parserFor(
  provider,
  Type.Object({
    status: Type.Literal('success'),
    data: Type.Array(CalBooking),
    pagination: Type.Optional(Type.Object({ totalItems: Type.Optional(Type.Integer()) })),
  }),
);
const parseEventTypes = parserFor(
  provider,
  Type.Object({
    status: Type.Literal('success'),
    data: Type.Array(Type.Object({ id: Type.Integer(), slug: Type.String() })),
  }),
);

/**
 * Bookings from Cal.com's API, version 2 (https://cal.com/docs/api-reference/v2). One account may
 * serve many websites: a website's bookings are those of the event types with its slug, unless the
 * website names others. Nothing is stored.
 * @param parts `apiKey`: the account of websites without their own; absent: those have no bookings
 */
export const createCalCom = (parts: {
  url: string;
  apiKey: string | undefined;
  clock: Clock;
  random: Random;
  logger: Logger;
}): Scheduling => {
  // One client per account, so that rate limits and faults of one account do not affect the others.
  const accounts = createCache<ProviderHttp>(500);
  const accountOf = (apiKey: string): ProviderHttp => {
    const known = accounts.get(apiKey);
    if (known !== undefined) return known;
    const created = createProviderHttp({ provider, requestIdHeader: 'x-request-id', timeoutMs: 5_000, ...parts });
    accounts.set(apiKey, created);
    return created;
  };

  const get = async (
    apiKey: string,
    resource: keyof typeof versions,
    query: Readonly<Record<string, string>> = {},
  ): Promise<unknown> => {
    const search = new URLSearchParams(query).toString();
    const answer = await accountOf(apiKey)({
      method: 'GET',
      url: `${parts.url}/v2/${resource}${search === '' ? '' : `?${search}`}`,
      headers: { authorization: `Bearer ${apiKey}`, 'cal-api-version': versions[resource] },
    });
    if (answer.status !== 200) throw new ProviderFault({ provider, message: refusalOf(answer.status), transient: false });
    return parseJson(provider, answer);
  };

  const eventTypesOf = async (apiKey: string, { slug, eventTypeIds }: SchedulingSite): Promise<readonly number[]> =>
    eventTypeIds ??
    parseEventTypes(await get(apiKey, 'event-types'))
      .data.filter((type) => type.slug === slug)
      .map(({ id }) => id);

  /** A part of a website's bookings; `null` when it has no event types, or there is no account. */
  const getBookings = async ({ site, from, to }: BookingsFilter, part: Readonly<Record<string, string>>) => {
    const { apiKey = parts.apiKey } = site;
    if (apiKey === undefined) return null;
    const eventTypeIds = await eventTypesOf(apiKey, site);
    // Without event types, Cal.com would return the bookings of all websites.
    if (eventTypeIds.length === 0) return null;
    return parseBookings(
      await get(apiKey, 'bookings', {
        eventTypeIds: eventTypeIds.join(),
        afterStart: from,
        ...(to !== undefined && { beforeEnd: to }),
        ...part,
      }),
    );
  };

  return {
    provider,
    bookings: async ({ after, limit, ...filter }) => {
      const { start: from, nth: skip } = after ?? { start: filter.from, nth: 0 };
      const found = await getBookings({ ...filter, from }, { sortStart: 'asc', skip: String(skip), take: String(limit) });
      return found?.data.map(toBooking) ?? [];
    },
    count: async (filter) => {
      const found = await getBookings(filter, { take: '1' });
      if (found === null) return 0;
      const total = found.pagination?.totalItems;
      if (total !== undefined) return total;
      throw new ProviderFault({ provider, message: 'it does not say how many bookings there are', transient: false });
    },
  };
};

const toBooking = ({ uid, title, status, start, end, location, attendees }: Static<typeof CalBooking>): Booking => ({
  id: uid,
  title,
  status,
  start: isoTime(Date.parse(start)),
  end: isoTime(Date.parse(end)),
  ...(typeof location === 'string' && location !== '' && { location }),
  attendees: attendees.map(({ name, email }) => ({ name, ...(email !== undefined && { email }) })),
});

const refusalOf = (status: number): string =>
  status === 401 || status === 403 ? 'the API key is not accepted' : `the answer had status ${String(status)}`;
