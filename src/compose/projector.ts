import { projections } from '../projections/catalogue.js';
import { createProjector, type Projector } from '../projections/runner/projector.js';
import type { Core } from './core.js';

/** Keeps the read models of one process up to date. `gatherMs`: as of a runner. */
export const composeProjector = (
  { engine, stores: { eventStore, readModels, codec } }: Core,
  { gatherMs = 0 }: { readonly gatherMs?: number } = {},
): Projector => {
  const { clock, random, logger } = engine;
  return createProjector({
    projections,
    eventStore,
    readModels,
    clock,
    random,
    logger,
    decode: (stored) => codec.decode(stored),
    personal: engine.personal,
    gatherMs,
  });
};
