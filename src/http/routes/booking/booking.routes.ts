import { Type, type Static } from 'typebox';
import { bookingDecider, keptSince } from '../../../commands/booking/booking.decider.js';
import { addBooking } from '../../../commands/booking/booking.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import { secretsOf } from '../../../commands/service/service.handlers.js';
import type { Engine } from '../../../engine.js';
import { FIRST_REVISION } from '../../../events/store/eventStore.js';
import type { Booking as Booked, BookingPlace, Scheduling, SchedulingSite } from '../../../integrations/scheduling/port.js';
import { isoTime } from '../../../platform/clock.js';
import { utcTime } from '../../../platform/times.js';
import type { BookingDocument } from '../../../projections/booking/booking.projection.js';
import { countBookings, readBooking } from '../../../projections/booking/booking.queries.js';
import { serviceOf } from '../../../projections/service/service.queries.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { notACursor, readNamed, readPage, totalOf } from '../../paging.js';
import { PersonalAddress, PersonalName } from '../../personalFields.js';
import { NonBlank } from '../../schemas.js';
import { noContent, route, type Route, type RouteTag } from '../../route.js';
import type { Reader } from '../../../projections/reader.js';

const bookingTag: RouteTag = {
  name: 'Bookings',
  description: 'Bookings, as the scheduling service or the embedded calendar reports them.',
};
const Time = Type.String({ format: 'date-time' });
/** No booking starts before. */
const earliest = isoTime(0);

const Booking = Type.Object(
  {
    id: Type.String({ description: 'As the scheduling service or the embedded calendar names it.' }),
    title: Type.String(),
    status: Type.Enum(['accepted', 'pending', 'cancelled', 'rejected']),
    start: Time,
    end: Time,
    location: Type.Optional(Type.String()),
    attendees: Type.Array(Type.Object({ name: PersonalName, email: Type.Optional(PersonalAddress) }), {
      description: 'Nobody, in the embedded calendar.',
    }),
  },
  { $id: 'Booking', description: 'What somebody has booked.' },
);

const toBooking = ({ attendees, nth: _, ...booking }: Booked & BookingPlace): Static<typeof Booking> => ({
  ...booking,
  attendees: attendees.map((attendee) => ({ ...attendee })),
});

/** Of the embedded calendar, which knows no attendees. */
const toOwnBooking = ({ websiteId: _, ...booking }: BookingDocument): Static<typeof Booking> => ({ ...booking, attendees: [] });

const placeTextOf = ({ start, nth, id }: BookingPlace): string => `${String(Date.parse(start))}.${String(nth)}.${id}`;

const bookingAt = (text: string): BookingPlace => {
  const [, time, nth, id] = /^(-?\d{1,14})\.(\d{1,6})\.(.+)$/.exec(text) ?? [];
  if (time === undefined || nth === undefined || id === undefined) throw notACursor();
  return { id, start: isoTime(Number(time)), nth: Number(nth) };
};

/** Bookings that come after `last`, with their places. */
const placed = (bookings: readonly Booked[], last: BookingPlace | undefined): readonly (Booked & BookingPlace)[] => {
  let { start, nth } = last ?? { start: '', nth: 0 };
  return bookings.map((booking) => {
    nth = booking.start === start ? nth + 1 : 1;
    start = booking.start;
    return { ...booking, nth };
  });
};

export interface BookingRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly scheduling: Scheduling;
  /** Whether bookings are written here, and not in a scheduling service. */
  readonly ownsCalendar: boolean;
  /** Asked for websites with an account of their own there. */
  readonly ownScheduling: Scheduling;
}

/**
 * What people have booked with the business of a website: asked of the scheduling service at each
 * call.
 */
export const bookingRoutes = (parts: BookingRouteParts): readonly Route[] => {
  const { engine, reader, ownsCalendar, ownScheduling } = parts;

  /** Where the website's bookings are, and what it is called there. */
  const placeOf = async ({ id, slug }: WebsiteDocument): Promise<{ scheduling: Scheduling; site: SchedulingSite }> => {
    const service = await serviceOf(reader, id, 'scheduling');
    const site = {
      websiteId: id,
      slug,
      ...(service?.eventTypeIds !== undefined && { eventTypeIds: service.eventTypeIds }),
    };
    const { apiKey } = service === undefined ? {} : await secretsOf(engine, service.id);
    if (apiKey === undefined) return { scheduling: parts.scheduling, site };
    return { scheduling: ownScheduling, site: { ...site, apiKey } };
  };

  const isOwn = (scheduling: Scheduling): boolean => ownsCalendar && scheduling !== ownScheduling;

  /** Where a list begins that names no time: a scheduling service may know bookings of many years. */
  const firstListed = (scheduling: Scheduling): string => (isOwn(scheduling) ? earliest : isoTime(engine.clock.now()));

  const mustOwnCalendar = async (website: WebsiteDocument): Promise<void> => {
    const { scheduling } = await placeOf(website);
    if (!isOwn(scheduling)) throw new Refused(refusals.bookingsElsewhere(scheduling.provider));
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/bookings',
      operationId: 'listBookings',
      summary: 'List the bookings of a website, the earliest first; not for viewers, because they name other people',
      description:
        'Asked of the scheduling service, or read from the embedded calendar. `ids` reads bookings of the embedded calendar, and is refused elsewhere. A booking that was cancelled there is not listed. In a scheduling service, a booking that goes between two pages may take another one with it that starts at the same time.',
      tag: bookingTag,
      scope: 'website',
      access: 'editors',
      asksProvider: true,
      feature: 'scheduling',
      paging: { count: true, ids: true },
      query: Type.Object({
        from: Type.Optional(
          Type.String({
            format: 'date-time',
            description:
              'Those that start then or later. Default: all of the embedded calendar; those from now on of a scheduling service.',
          }),
        ),
        to: Type.Optional(Type.String({ format: 'date-time', description: 'Those that end then or before.' })),
      }),
      answers: { 200: { description: 'A page of bookings.', schema: Type.Array(Booking) } },
      answer: async ({ query, website: { website } }) => {
        const { from, to } = query;
        const { scheduling, site } = await placeOf(website);
        if (query.ids !== undefined && !isOwn(scheduling)) {
          throw new Refused(refusals.invalidQuery('ids', `bookings in ${scheduling.provider} cannot be read by their ids`));
        }
        const named = await readNamed(
          query,
          async (bookingId) => (await readBooking(reader, { websiteId: website.id, bookingId })).booking,
        );
        if (named !== null) return { body: named.map(toOwnBooking), total: await totalOf(query, () => named.length) };
        const times = {
          from: from === undefined ? firstListed(scheduling) : utcTime(from),
          ...(to !== undefined && { to: utcTime(to) }),
        };
        const { items, next } = await readPage(query, placeTextOf, async ({ limit, after: text }) => {
          const after = text === undefined ? undefined : bookingAt(text);
          return placed(await scheduling.bookings({ site, ...times, ...(after && { after }), limit }), after);
        });
        const total = await totalOf(query, () => scheduling.count({ site, ...times }));
        return { body: items.map(toBooking), next, total };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/bookings',
      operationId: 'addBooking',
      summary: 'Write a booking into the embedded calendar',
      description: 'Only in the embedded calendar; a scheduling service takes its bookings itself.',
      tag: bookingTag,
      scope: 'website',
      access: 'admin',
      feature: 'scheduling',
      body: Type.Object({
        title: NonBlank(200),
        start: Type.String({ format: 'date-time', description: 'In 1970 (UTC) or later.' }),
        end: Time,
        location: Type.Optional(NonBlank(200)),
      }),
      refusals: ['bookings_elsewhere', 'calendar_full'],
      answers: { 201: { description: 'The booking.', schema: Booking } },
      act: async ({ body, context, params, website: { website } }, acting) => {
        await mustOwnCalendar(website);
        const websiteId = params.id;
        const start = utcTime(body.start);
        const since = keptSince(isoTime(engine.clock.now()));
        // One of long ago counts with all: those that do not count would have no end.
        const kept = await countBookings(reader, websiteId, { from: start < since ? earliest : since });
        const input = {
          websiteId,
          title: body.title.trim(),
          start,
          end: utcTime(body.end),
          location: body.location?.trim(),
          kept,
        };
        const { bookingId } = await addBooking(acting, input, context);
        return bookingId;
      },
      answer: async ({ params: { id: websiteId } }, bookingId) => {
        const { booking } = await readBooking(reader, { websiteId, bookingId }, FIRST_REVISION);
        if (booking === null) throw new Error(`booking ${bookingId} is gone the moment it was added`);
        return { status: 201, body: toOwnBooking(booking) };
      },
    }),

    route({
      method: 'get',
      path: '/websites/:id/bookings/:bookingId',
      operationId: 'getBooking',
      summary: 'Read a booking of the embedded calendar',
      description: 'Only in the embedded calendar; those of a scheduling service are listed. Not for viewers, as the list.',
      tag: bookingTag,
      scope: 'website',
      access: 'editors',
      feature: 'scheduling',
      refusals: ['bookings_elsewhere', 'booking_not_found'],
      answers: { 200: { description: 'The booking.', schema: Booking } },
      answer: async ({ params: { id: websiteId, bookingId }, website: { website } }) => {
        await mustOwnCalendar(website);
        const { booking, revision } = await readBooking(reader, { websiteId, bookingId });
        if (booking === null) throw new Refused(refusals.bookingNotFound(bookingId));
        return { body: toOwnBooking(booking), revision };
      },
    }),

    route({
      method: 'delete',
      path: '/websites/:id/bookings/:bookingId',
      operationId: 'cancelBooking',
      summary: 'Cancel a booking of the embedded calendar',
      description: 'Only in the embedded calendar.',
      tag: bookingTag,
      scope: 'website',
      access: 'admin',
      feature: 'scheduling',
      refusals: ['bookings_elsewhere', 'booking_not_found'],
      answers: { 204: { description: 'It is cancelled.' } },
      act: async ({ params: { id: websiteId, bookingId }, context, website: { website } }, acting) => {
        await mustOwnCalendar(website);
        const command = { type: 'CancelBooking', websiteId, bookingId } as const;
        await acting.handle(bookingDecider, command, context, { ifNothing: refusals.bookingNotFound(bookingId) });
      },
      answer: noContent,
    }),
  ];
};
