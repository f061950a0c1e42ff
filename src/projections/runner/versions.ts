import type { Random } from '../../platform/random.js';
import type { AnyProjection } from '../projection.js';
import { ReadModelDropped, type ReadModel, type ReadModelStore } from '../store/readModelStore.js';

/**
 * A list would lack a write that was acknowledged before the request. HTTP: 503 with `Retry-After`.
 */
export class ProjectionBehind extends Error {
  override readonly name = 'ProjectionBehind';
  readonly projection: string;
  readonly retryAfterSeconds = 1;

  constructor(projection: string) {
    super(`the ${projection} projection has not caught up`);
    this.projection = projection;
  }
}

/** A version of the projection's read model. Default: the one of this build's first start. */
export const modelOf = (
  { name, version, indexes, counted, isAppendOnly }: AnyProjection,
  stored = String(version),
): ReadModel => ({
  name,
  version: stored,
  indexes,
  ...(counted !== undefined && { counted }),
  ...(isAppendOnly !== undefined && { isAppendOnly }),
});

/** A version to build anew beside what there is. What a failed rebuild left is never taken for it. */
export const freshModelOf = (projection: AnyProjection, random: Random): ReadModel =>
  modelOf(projection, `${String(projection.version)}-r${Buffer.from(random.bytes(16)).toString('hex')}`);

/** The projection's version that built a stored version: 3 for `3`, and for `3-r…`, a rebuild. */
export const builtBy = (stored: string): number => Number.parseInt(stored, 10);

/** Whether this build reads and writes a stored version: its own one, or an older one that it goes on with. */
export const understands = ({ version, readsFrom = version }: AnyProjection, stored: string): boolean =>
  readsFrom <= builtBy(stored) && builtBy(stored) <= version;

/**
 * The live versions as last loaded. They need no expiry: a publish drops every other version, and a
 * read of a dropped version throws.
 */
const lastLoaded = new WeakMap<ReadModelStore, Map<string, ReadModel>>();

/**
 * The version that answers reads now; `null` when none is published yet, or when this build may not
 * understand its documents.
 */
export const liveModel = async (projection: AnyProjection, readModels: ReadModelStore): Promise<ReadModel | null> => {
  const known = lastLoaded.get(readModels) ?? new Map<string, ReadModel>();
  lastLoaded.set(readModels, known);
  const stored = await readModels.liveVersion(projection.name);
  if (stored === null || !understands(projection, stored)) {
    known.delete(projection.name);
    return null;
  }
  const model = modelOf(projection, stored);
  known.set(projection.name, model);
  return model;
};

/**
 * Runs `read` on the version that answers reads, and again when another version is published
 * meanwhile. So the answer never comes from a version that was dropped before the call. `read` gets
 * `null` where `liveModel` returns it.
 */
export const readLive = async <Result>(
  projection: AnyProjection,
  readModels: ReadModelStore,
  read: (model: ReadModel | null) => Promise<Result>,
): Promise<Result> => {
  const known = lastLoaded.get(readModels)?.get(projection.name);
  let model = known !== undefined && understands(projection, known.version) ? known : await liveModel(projection, readModels);
  for (;;) {
    try {
      return await read(model);
    } catch (fault) {
      if (!(fault instanceof ReadModelDropped)) throw fault;
    }
    model = await liveModel(projection, readModels);
  }
};
