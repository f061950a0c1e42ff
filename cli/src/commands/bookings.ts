import { argument, command, defined, required, text, website, type Command } from '../command.js';
import { at, change, listing, readList } from './shared.js';

/** Commands on the bookings of a website. */
export const bookingCommands: readonly Command[] = [
  command({
    name: 'bookings list',
    summary: 'List the bookings of a website',
    examples: [['Those of a week', 'bookings list corner-bakery --from today --to "in 1 week"']],
    operations: ['listBookings'],
    arguments: { website },
    options: {
      from: text('From this day on; else from now', { placeholder: 'date' }),
      to: text('Until this day, that day included', { placeholder: 'date' }),
      ...listing,
    },
    run: async (context, args, options) => {
      const { isDay, readOwnDate } = await import('../dates.js');
      const { shortTime } = await import('../views/words.js');
      const { doorstep, website: found } = await at(context, args.website);
      const clock = { now: Date.now() };
      // A day is all of it, in the caller's time zone, and a time is a time.
      const edge = (given: string, ofDay: string): string => {
        const read = readOwnDate(given, clock, 'future');
        return isDay(given) ? new Date(`${read.slice(0, 10)}T${ofDay}`).toISOString() : read;
      };
      const filter = defined({
        from: edge(options.from ?? 'now', '00:00'),
        to: options.to === undefined ? undefined : edge(options.to, '23:59:59.999'),
      });
      const bookings = await readList(
        context,
        (page) => doorstep.websites.bookings.list(found.id, { ...filter, ...page }),
        options,
      );
      await context.output.list(
        bookings,
        [
          { heading: 'start', value: ({ start }) => start, shown: ({ start }) => shortTime(start, clock), whole: true },
          { heading: 'end', value: ({ end }) => end, shown: ({ end }) => shortTime(end, clock), spare: true },
          { heading: 'title', value: ({ title }) => title },
          { heading: 'status', value: ({ status }) => status },
          { heading: 'who', value: ({ attendees }) => attendees.map(({ name }) => name).join(', '), spare: true },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), whole: true },
        ],
        'No bookings.',
      );
    },
  }),
  command({
    name: 'bookings get',
    summary: 'Show a booking of the embedded calendar',
    examples: [['By its id', 'bookings get corner-bakery <id>']],
    operations: ['getBooking'],
    arguments: { website, booking: argument('Id of the booking', { placeholder: 'id' }) },
    run: async (context, args) => {
      const { bookingLines } = await import('../views/resources.js');
      const { doorstep, website: found } = await at(context, args.website);
      const one = await doorstep.websites.bookings.get(found.id, args.booking);
      await context.output.resource(one, bookingLines(one));
    },
  }),
  command({
    name: 'bookings add',
    summary: 'Add a booking to the embedded calendar of a website',
    examples: [['An hour', 'bookings add corner-bakery "Cake tasting" --start 2026-12-01T10:00 --end 2026-12-01T11:00']],
    operations: ['addBooking'],
    write: true,
    arguments: { website, title: argument('What it is', { placeholder: 'title' }) },
    options: {
      start: required(text('When it begins, in your time zone', { placeholder: 'time' })),
      end: required(text('When it ends', { placeholder: 'time' })),
      location: text('Where it is'),
    },
    run: async (context, args, { start, end, location }) => {
      const { readTime } = await import('../dates.js');
      const body = defined({ title: args.title, start: readTime(start), end: readTime(end), location });
      const { doorstep, website: found } = await at(context, args.website);
      await change(
        context,
        (options) => doorstep.websites.bookings.add(found.id, body, options),
        ({ id, title }) => ({ said: `${title} is booked.`, value: id }),
      );
    },
  }),
  command({
    name: 'bookings cancel',
    summary: 'Cancel a booking of the embedded calendar',
    examples: [['By its id', 'bookings cancel corner-bakery <id>']],
    operations: ['cancelBooking'],
    write: true,
    destructive: true,
    arguments: { website, booking: argument('Id of the booking', { placeholder: 'id' }) },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await context.confirm(`Cancel the booking ${args.booking} of ${found.name}?`);
      await change(
        context,
        (options) => doorstep.websites.bookings.cancel(found.id, args.booking, options),
        () => ({ said: 'The booking is cancelled.' }),
      );
    },
  }),
];
