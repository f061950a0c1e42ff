import type { AnyProjection } from '../projection.js';
import type { ReadModel, ReadModelStore } from '../store/readModelStore.js';
import { builtBy, modelOf, understands } from './versions.js';

/**
 * The version of a read model that a process writes. `following`: the live one. `building`: a new
 * one beside it, and the older one that is live too, when this build goes on with it (`serving`).
 * `superseded`: none, because a newer version of the projection is live.
 */
export type ChosenVersion =
  | { readonly state: 'following'; readonly model: ReadModel }
  | { readonly state: 'building'; readonly model: ReadModel; readonly serving: ReadModel | null }
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
  if (live !== null)
    return { state: 'building', model, serving: understands(projection, live) ? modelOf(projection, live) : null };
  await readModels.publish(model);
  return { state: 'following', model };
};
