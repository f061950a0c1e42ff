import { isList, isObject, isSame, withAt, type Path } from './json.js';

/** A place at which two people did not leave the same. */
export interface Difference {
  readonly path: Path;
  /** What both began from; `undefined`: nothing was there. */
  readonly base: unknown;
  readonly mine: unknown;
  readonly theirs: unknown;
  /** Who changed it. `both`: each to something else. */
  readonly by: 'me' | 'them' | 'both';
}

/** The parts that three values have in common: the fields of objects, the entries of lists of one length. */
const stepsOf = (values: readonly unknown[]): Path | null => {
  if (values.every(isObject)) return [...new Set(values.flatMap((value) => Object.keys(value)))];
  if (!values.every(isList)) return null;
  const [length = 0, ...others] = values.map((value) => value.length);
  return others.every((other) => other === length) ? Array.from({ length }, (_, index) => index) : null;
};

const partOf = (value: unknown, step: string | number): unknown => {
  if (isList(value)) return value[Number(step)];
  return isObject(value) ? value[step] : undefined;
};

/**
 * Where mine and theirs differ, as fine as it can be said: by field; a list whose length was changed is
 * one place.
 */
export const differencesOf = (base: unknown, mine: unknown, theirs: unknown, path: Path = []): readonly Difference[] => {
  if (isSame(mine, theirs)) return [];
  const steps = stepsOf([base, mine, theirs]);
  if (steps !== null) {
    return steps.flatMap((step) => differencesOf(partOf(base, step), partOf(mine, step), partOf(theirs, step), [...path, step]));
  }
  const by = isSame(base, mine) ? 'them' : isSame(base, theirs) ? 'me' : 'both';
  return [{ path, base, mine, theirs, by }];
};

/** Names a place, for a choice and in lists. */
export const nameOf = ({ path }: Pick<Difference, 'path'>): string => path.join('.');

export type Choice = 'mine' | 'theirs';

/** Theirs, with what only I changed, and with mine where I chose mine. */
export const mergedBody = (
  theirs: unknown,
  differences: readonly Difference[],
  choices: Readonly<Partial<Record<string, Choice>>>,
): unknown =>
  differences
    .filter((difference) => difference.by === 'me' || (difference.by === 'both' && choices[nameOf(difference)] === 'mine'))
    .reduce((body, { path, mine }) => withAt(body, path, mine), theirs);
