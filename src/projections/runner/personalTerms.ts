import type { JsonObject, Recorded } from '../../events/envelope.js';
import type { PersonalData } from '../../platform/personal.js';
import { spelledOut, termsOf } from '../../platform/searchTerms.js';
import type { AnyProjection, PersonalTerms } from '../projection.js';

/** What the terms of encrypted texts are made with. */
export type TermSource = Pick<PersonalData, 'decrypt' | 'blindTerms'>;

const none: PersonalTerms = {};

/** What the projection finds the personal data of an event by. @throws what the vault throws */
export const personalTermsOf = async (
  { name, searched = {} }: Pick<AnyProjection, 'name' | 'searched'>,
  { type, data }: Recorded,
  personal: TermSource | undefined,
): Promise<PersonalTerms> => {
  const fields = Object.hasOwn(searched, type) ? searched[type] : undefined;
  if (fields === undefined) return none;
  if (personal === undefined) throw new TypeError(`the ${name} projection needs the vault, and was given none`);
  const terms: Record<string, readonly string[]> = {};
  for (const field of fields) {
    const text = (data as JsonObject)[field];
    const plain = typeof text === 'string' ? await personal.decrypt(text) : null;
    if (plain !== null) terms[field] = personal.blindTerms(spelledOut(termsOf([plain])));
  }
  return terms;
};
