import type { DeliveryBlock } from '../../events/delivery/delivery.block.js';
import type { Reader } from '../reader.js';
import { forecastProjection, type PaceDocument } from './forecast.projection.js';
import { durationsTo, etasHeld, minCases, type Durations } from './forecast.js';

/** From how many past deliveries a forecast is made at most: the newest, so that its cost has a bound. */
export const maxCases = 50;

/** What past deliveries say of one that is under way. */
export interface Forecast {
  /** Of each open checkpoint, in order. */
  readonly checkpoints: readonly (Durations & { readonly id: string })[];
  /** Past deliveries that were finished, and how many of these held their ETA. */
  readonly finished: number;
  readonly etasHeld: number;
}

/**
 * Forecasts the open checkpoints of a delivery from the newest finished ones; those that fewer than
 * five of these had, from the newest that did one of them, finished or not. Two lists of bounded
 * length are all that is read.
 * @throws as `readList`
 */
export const forecastOf = async (reader: Reader, block: DeliveryBlock): Promise<Forecast> => {
  const newest = async (where: Readonly<Record<string, string | readonly string[]>>): Promise<readonly PaceDocument[]> => {
    const query = { where, without: [block.websiteId], order: 'descending', limit: maxCases } as const;
    return (await reader.list(forecastProjection, query)).map(({ body }) => body);
  };
  const done = new Set(block.checkpoints.filter(({ status }) => status === 'done').map(({ id }) => id));
  const ids = block.checkpoints.map(({ id }) => id).filter((id) => !done.has(id));
  const forecast = (past: readonly PaceDocument[], open: readonly string[]): ReadonlyMap<string, Durations> =>
    new Map(durationsTo(past, done, open).map((durations, index) => [open[index] ?? '', durations]));

  const finished = await newest({ finished: 'yes' });
  const usual = forecast(finished, ids);
  const rare = ids.filter((id) => (usual.get(id)?.cases ?? 0) < minCases);
  const others = rare.length === 0 ? new Map<string, Durations>() : forecast(await newest({ done: rare }), rare);
  const checkpoints = ids.map((id) => ({ id, ...(others.get(id) ?? usual.get(id) ?? { cases: 0 }) }));
  return { checkpoints, finished: finished.length, etasHeld: etasHeld(finished) };
};
