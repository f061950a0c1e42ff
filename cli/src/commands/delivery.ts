import type { ChangedPart, DoorstepError } from '@doorstep/sdk';
import { command, defined, number, Refusal, text, website, type Command } from '../command.js';
import { deliveryBlockCommands, showBlock } from './deliveryBlock.js';
import { at, change, listing, readList } from './shared.js';

/** Commands on the delivery of a website. */
export const deliveryCommands: readonly Command[] = [
  command({
    name: 'delivery',
    summary: 'Show where the delivery of a website stands',
    examples: [
      ['Where it stands', 'delivery corner-bakery'],
      ['The day it is ready by, for a script', 'delivery corner-bakery --jq .estimatedCompletionAt'],
    ],
    operations: ['getDelivery'],
    arguments: { website },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await showBlock(context, found, await doorstep.websites.delivery.get(found.id));
    },
  }),
  ...deliveryBlockCommands,
  command({
    name: 'delivery history',
    summary: 'List every change of a delivery, or show it as it was',
    examples: [
      ['Every change, the oldest first', 'delivery history corner-bakery'],
      ['As it was then', 'delivery history corner-bakery --at "3 Nov"'],
    ],
    operations: ['getDeliveryHistory', 'getDelivery'],
    arguments: { website },
    options: { at: text('Show the delivery as it was then', { placeholder: 'date' }), ...listing },
    run: async (context, args, options) => {
      const { output } = context;
      const { doorstep, website: found } = await at(context, args.website);
      if (options.at !== undefined) {
        const { readOwnDate } = await import('../dates.js');
        const { fullDay } = await import('../views/words.js');
        const time = readOwnDate(options.at, { now: Date.now() }, 'past');
        const understood = `${fullDay(time, { now: 0, timeZone: 'UTC' })}, ${time.slice(11, 16)} UTC`;
        if (!options.at.startsWith(time.slice(0, 10))) output.note(`"${options.at.trim()}" is understood as ${understood}.`);
        try {
          await showBlock(context, found, await doorstep.websites.delivery.get(found.id, { at: time }));
        } catch (error) {
          if ((error as DoorstepError).code !== 'delivery_not_set_up') throw error;
          // Where there is none at all, this is refused with the next step.
          await doorstep.websites.delivery.get(found.id);
          throw new Refusal(`The delivery of ${found.slug} was not set up yet on ${understood}.`);
        }
        return;
      }
      const { historyLines } = await import('../views/history.js');
      const { drawingFor } = await import('../views/drawing.js');
      const history = await readList(context, (page) => doorstep.websites.delivery.history(found.id, page), options);
      await output.view(
        history,
        () => historyLines(history, drawingFor(output)),
        () =>
          history.flatMap(({ revision, at: time, actor, reason, changes }) =>
            cellsOf(changes).map((cells) => [revision, time, actor.name ?? actor.subject, ...cells, reason]),
          ),
      );
    },
  }),
  command({
    name: 'delivery changes',
    summary: 'List what changed of a delivery since you last looked',
    examples: [
      ['Since you last looked', 'delivery changes corner-bakery'],
      ['Since a revision', 'delivery changes corner-bakery --since 3'],
    ],
    operations: ['listDeliveryChanges'],
    arguments: { website },
    options: { since: number('The revision that you know'), ...listing },
    run: async (context, args, options) => {
      const { output } = context;
      const { historyLines } = await import('../views/history.js');
      const { drawingFor } = await import('../views/drawing.js');
      const { doorstep, website: found } = await at(context, args.website);
      const since = defined({ since: options.since });
      const changes = await readList(
        context,
        (page) => doorstep.websites.delivery.changes(found.id, { ...since, ...page }),
        options,
      );
      if (changes.length === 0 && !output.isJson) output.note('Nothing has changed.');
      await output.view(
        changes,
        () => historyLines(changes, drawingFor(output)),
        () =>
          changes.flatMap(({ revision, at: time, reason, changes: all }) =>
            cellsOf(all).map((cells) => [revision, time, ...cells, reason]),
          ),
      );
    },
  }),
  command({
    name: 'delivery seen',
    summary: 'Note that you have seen a delivery as it is, or up to a revision',
    examples: [['As it is', 'delivery seen corner-bakery']],
    operations: ['markDeliverySeen'],
    write: true,
    arguments: { website },
    options: { revision: number('Up to this one') },
    run: async (context, args, options) => {
      const { doorstep, website: found } = await at(context, args.website);
      const revision = options.revision ?? (await doorstep.websites.delivery.get(found.id)).revision;
      await change(
        context,
        (write) => doorstep.websites.delivery.markSeen(found.id, revision, write),
        () => ({ said: `Revision ${String(revision)} of ${found.slug} is noted as seen.` }),
      );
    },
  }),
  command({
    name: 'delivery readers',
    summary: 'List who saw which revision of a delivery',
    examples: [['Who has seen it?', 'delivery readers corner-bakery']],
    operations: ['listDeliveryReaders'],
    arguments: { website },
    options: listing,
    run: async (context, args, options) => {
      const { shortTime } = await import('../views/words.js');
      const { doorstep, website: found } = await at(context, args.website);
      const readers = await readList(context, (page) => doorstep.websites.delivery.readers(found.id, page), options);
      const clock = { now: Date.now() };
      await context.output.list(
        readers,
        [
          { heading: 'who', value: ({ name, email, subject }) => name ?? email ?? subject },
          { heading: 'revision', value: ({ revision }) => revision, right: true },
          { heading: 'first', value: ({ firstAt }) => firstAt, shown: ({ firstAt }) => shortTime(firstAt, clock) },
          { heading: 'last', value: ({ lastAt }) => lastAt, shown: ({ lastAt }) => shortTime(lastAt, clock) },
        ],
        'No client has looked yet, or read receipts are off.',
      );
    },
  }),
  command({
    name: 'delivery forecast',
    summary: 'Forecast the checkpoints from past deliveries',
    examples: [['When will it be done?', 'delivery forecast corner-bakery']],
    operations: ['getDeliveryForecast'],
    arguments: { website },
    run: async (context, args) => {
      const { shortDay } = await import('../views/words.js');
      const { output } = context;
      const { doorstep, website: found } = await at(context, args.website);
      const forecast = await doorstep.websites.delivery.forecast(found.id);
      if (output.isJson) {
        await output.json(forecast);
        return;
      }
      const block = await doorstep.websites.delivery.get(found.id);
      const label = new Map(block.checkpoints.map((one) => [one.id, one.label]));
      const clock = { now: Date.now() };
      const day = (time: string | null): string => (time === null ? 'too few past cases' : shortDay(time, clock));
      await output.list(
        forecast.checkpoints,
        [
          { heading: 'checkpoint', value: ({ id }) => id, shown: ({ id }) => label.get(id) ?? id },
          { heading: 'in half the cases by', value: ({ medianAt }) => medianAt, shown: ({ medianAt }) => day(medianAt) },
          {
            heading: 'in 9 of 10 by',
            value: ({ p90At }) => p90At,
            shown: ({ p90At }) => (p90At === null ? '' : day(p90At)),
          },
          { heading: 'cases', value: ({ cases }) => cases, right: true },
        ],
        'Every checkpoint is done.',
      );
      if (forecast.etaHeldInPast !== null)
        output.note(
          `The first date held in ${String(Math.round(forecast.etaHeldInPast * 100))}% of ${String(forecast.finished)} past deliveries.`,
        );
    },
  }),
];

const textOf = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** What, from and to, for each part; empty ones for a change that is nothing but a reason. */
const cellsOf = (changes: readonly ChangedPart[]): (readonly [string, string, string])[] =>
  changes.length === 0 ? [['', '', '']] : changes.map(({ path, from, to }) => [path, textOf(from), textOf(to)]);
