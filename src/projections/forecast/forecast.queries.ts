import type { DeliveryBlock } from '../../events/delivery/delivery.block.js';
import type { Reader } from '../reader.js';
import { forecastProjection, type PaceDocument } from './forecast.projection.js';
import { durationsTo, etasHeld, minCases, type Durations } from './forecast.js';

/** From how many past deliveries a forecast is made at most: the newest, so that its cost has a bound. */
export const maxCases = 100;

/** What past deliveries say of one that is under way. */
export interface Forecast {
  /** Of each open checkpoint, in order. */
  readonly checkpoints: readonly (Durations & { readonly id: string })[];
  /** Past deliveries that were finished, and how many of these held their ETA. */
  readonly finished: number;
  readonly etasHeld: number;
}

/**
 * Forecasts the open checkpoints of a delivery from the newest finished ones; where fewer than five
 * of these had a checkpoint, from the newest that have done it, finished or not.
 * @throws as `readList`
 */
export const forecastOf = async (reader: Reader, block: DeliveryBlock): Promise<Forecast> => {
  const newest = async (where: Readonly<Record<string, string>>): Promise<readonly PaceDocument[]> => {
    const query = { where, without: [block.websiteId], order: 'descending', limit: maxCases } as const;
    return (await reader.list(forecastProjection, query)).map(({ body }) => body);
  };
  const done = new Set(block.checkpoints.filter(({ status }) => status === 'done').map(({ id }) => id));
  const open = block.checkpoints.filter(({ status }) => status !== 'done');
  const finished = await newest({ finished: 'yes' });
  const checkpoints = await Promise.all(
    open.map(async ({ id }) => {
      const durations = durationsTo(finished, done, id);
      return { id, ...(durations.cases < minCases ? durationsTo(await newest({ done: id }), done, id) : durations) };
    }),
  );
  return { checkpoints, finished: finished.length, etasHeld: etasHeld(finished) };
};
