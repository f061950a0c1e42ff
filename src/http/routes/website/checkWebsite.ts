import { refusals, withViolations, type Refusal, type Violation } from '../../../commands/refusal.js';
import { isSlugTaken } from '../../../commands/website/website.handlers.js';
import type { Engine } from '../../../engine.js';
import { isBlank } from '../../../platform/blank.js';
import type { Route } from '../../route.js';

const isMissing = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && isBlank(value));

type Precheck = NonNullable<Route['precheck']>;

/** The first refusal, with the others in its `details`. */
export const together = (first: Refusal, ...others: readonly Refusal[]): Refusal =>
  withViolations(
    first,
    others.flatMap(({ details }) => details as readonly Violation[]),
  );

const firstOf = ([first, ...others]: readonly Refusal[]): Refusal | null =>
  first === undefined ? null : together(first, ...others);

const colourFaults = (violations: readonly Violation[]): readonly Refusal[] =>
  violations.some(({ field }) => field === 'brandColor') ? [refusals.notHexColour('brandColor')] : [];

/**
 * Website creation is checked by hand first: its messages are the specification's (api.md, section
 * 3). A slug that is taken is told beside other faults; alone, by the command.
 */
export const checkCreation =
  (engine: Engine): Precheck =>
  async ({ name: givenName, slug }, violations) => {
    const missing = Object.entries({ name: givenName, slug }).flatMap(([field, value]) =>
      isMissing(value) ? [refusals.fieldRequired(field)] : [],
    );
    const faults = [...missing, ...colourFaults(violations)];
    const isSlugSound = typeof slug === 'string' && !isMissing(slug) && !violations.some(({ field }) => field === 'slug');
    if (violations.length === 0 || !isSlugSound || !(await isSlugTaken(engine, slug))) return firstOf(faults);
    return firstOf([...missing, refusals.slugTaken(), ...colourFaults(violations)]);
  };

export const checkChange: Precheck = ({ name: givenName }, violations) => {
  const missing = givenName !== undefined && isMissing(givenName) ? [refusals.fieldRequired('name')] : [];
  return Promise.resolve(firstOf([...missing, ...colourFaults(violations)]));
};
