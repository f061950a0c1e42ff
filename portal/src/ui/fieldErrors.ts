import { DoorstepError } from '@doorstep/sdk';
import { inReadersLanguage } from '../i18n/serviceWords.js';

const isViolation = (entry: unknown): entry is { readonly field: string; readonly issue: string } =>
  typeof entry === 'object' &&
  entry !== null &&
  'field' in entry &&
  'issue' in entry &&
  typeof entry.field === 'string' &&
  typeof entry.issue === 'string';

/**
 * What a 400 says of each field in the reader's language, as in `{ slug: 'already exists' }`; of several
 * violations of a field the first. Empty for every other error: show that beside the form (`FaultLine`).
 */
export const fieldErrors = (error: unknown): Readonly<Partial<Record<string, string>>> => {
  if (!(error instanceof DoorstepError) || error.status !== 400) return {};
  const { body } = error;
  const details: unknown = typeof body === 'object' && body !== null && 'details' in body ? body.details : undefined;
  if (!Array.isArray(details)) return {};
  return Object.fromEntries(
    details
      .filter(isViolation)
      .reverse()
      .map(({ field, issue }) => [field, inReadersLanguage(issue)]),
  );
};
