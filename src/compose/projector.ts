import { projections } from '../projections/catalogue.js';
import { createProjector, type Projector } from '../projections/runner/projector.js';
import type { Core } from './core.js';

/** Under load a batch of each event costs twice as much as larger ones. Lists right after several writes wait so much longer. */
const gatherMs = 40;

/** Keeps the read models of one process up to date. */
export const composeProjector = ({ engine, stores: { eventStore, readModels, codec } }: Core): Projector => {
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
