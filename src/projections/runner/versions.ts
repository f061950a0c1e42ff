import type { AnyProjection } from '../projection.js';
import { ReadModelDropped, type ReadModel, type ReadModelStore } from '../store/readModelStore.js';

/** A list cannot be answered yet with everything that was acknowledged before the question. HTTP: 503 with `Retry-After`. */
export class ProjectionBehind extends Error {
  override readonly name = 'ProjectionBehind';
  readonly projection: string;
  readonly retryAfterSeconds = 1;

  constructor(projection: string) {
    super(`the ${projection} projection has not caught up`);
    this.projection = projection;
  }
}

/** A version of the projection's read model: by default the one that this build writes on its first start. */
export const modelOf = ({ name, version, indexes }: AnyProjection, stored = String(version)): ReadModel => ({
  name,
  version: stored,
  indexes,
});

/** The projection's version that a stored version was built by: `3` of `3`, and of `3-r…`, a rebuild. */
export const builtBy = (stored: string): number => Number.parseInt(stored, 10);

/** Live versions as last seen. A publish drops every other version, and reads of a dropped one throw: what is kept is right or noticed. */
const seen = new WeakMap<ReadModelStore, Map<string, ReadModel>>();

/**
 * The version that answers reads now; `null` when none is published yet, or when it was built by another version of the
 * projection, whose documents this build cannot be sure to understand.
 */
export const liveModel = async (projection: AnyProjection, readModels: ReadModelStore): Promise<ReadModel | null> => {
  const known = seen.get(readModels) ?? new Map<string, ReadModel>();
  seen.set(readModels, known);
  const stored = await readModels.liveVersion(projection.name);
  if (stored === null || builtBy(stored) !== projection.version) {
    known.delete(projection.name);
    return null;
  }
  const model = modelOf(projection, stored);
  known.set(projection.name, model);
  return model;
};

/**
 * Runs `read` on the version that answers reads, again when another one is published meanwhile: the answer never comes from a
 * version that was dropped before the call. `read` gets `null` as `liveModel` returns it.
 */
export const readLive = async <Result>(
  projection: AnyProjection,
  readModels: ReadModelStore,
  read: (model: ReadModel | null) => Promise<Result>,
): Promise<Result> => {
  const known = seen.get(readModels)?.get(projection.name);
  let model =
    known !== undefined && builtBy(known.version) === projection.version ? known : await liveModel(projection, readModels);
  for (;;) {
    try {
      return await read(model);
    } catch (fault) {
      if (!(fault instanceof ReadModelDropped)) throw fault;
    }
    model = await liveModel(projection, readModels);
  }
};
