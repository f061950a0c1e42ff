import type { AnyProjection } from '../projection.js';
import type { ReadModel, ReadModelStore } from '../store/readModelStore.js';
import { builtBy, modelOf } from './versions.js';

/**
 * The version of a read model that a process writes. `following`: the live one. `building`: a new
 * one beside it. `superseded`: none, because a newer version of the projection is live.
 */
export type ChosenVersion =
  | { readonly state: 'following' | 'building'; readonly model: ReadModel }
  | { readonly state: 'superseded'; readonly model: null };

/**
 * Chooses the live version when this build understands it, otherwise this build's own version,
 * which it prepares. The first version of all is published at once, so that reads work while it
 * fills.
 * @param live the version that answers reads; `null` when there is none
 */
export const chooseVersion = async (
  projection: AnyProjection,
  live: string | null,
  readModels: ReadModelStore,
): Promise<ChosenVersion> => {
  if (live !== null && builtBy(live) === projection.version) return { state: 'following', model: modelOf(projection, live) };
  if (live !== null && builtBy(live) > projection.version) return { state: 'superseded', model: null };
  const model = modelOf(projection);
  await readModels.prepare(model);
  if (live !== null) return { state: 'building', model };
  await readModels.publish(model);
  return { state: 'following', model };
};
