import type { PersonalData } from '../platform/personal.js';
import { personKeysIn } from './audited.js';
import { catalogue } from './catalogue.js';
import type { JsonObject, JsonValue, Recorded } from './envelope.js';

/** The data of an event as people may read it. */
export interface ReadableData {
  readonly data: JsonObject;
  /** Fields that are too long to be shown. */
  readonly omitted: readonly string[];
}

/** Fields that the schema of a type has and nobody needs to read. */
const hidden: Readonly<Record<string, readonly string[]>> = {
  // By it a token is found. It is no secret, but of no use to people either.
  APIKeyMinted: ['hash'],
};

/** Of one field, as JSON. The text of a page is longer. */
const maxFieldLength = 16_384;

/** Fields that are shown at any length, because what they hold is bounded: a delivery block has 40 checkpoints at most. */
const bounded: Readonly<Record<string, readonly string[]>> = {
  DeliverySetUp: ['checkpoints'],
  DeliveryReplaced: ['checkpoints'],
  DeliveryUndone: ['checkpoints'],
};

const shownFields = new Map<string, ReadonlySet<string>>();

/** The fields that today's schema of the type names, in any of its variants: others are never shown. */
const fieldsOf = (type: string): ReadonlySet<string> => {
  let fields = shownFields.get(type);
  if (fields === undefined) {
    const { properties, anyOf = [] } = (catalogue[type]?.schema ?? {}) as unknown as {
      readonly properties?: object;
      readonly anyOf?: readonly { readonly properties?: object }[];
    };
    const named = [properties, ...anyOf.map((variant) => variant.properties)].flatMap((known) => Object.keys(known ?? {}));
    fields = new Set(named.filter((field) => hidden[type]?.includes(field) !== true));
    shownFields.set(type, fields);
  }
  return fields;
};

/**
 * The data of an event with personal data decrypted (`[erased]` where the person was erased), and
 * only the fields that the schema of its type names.
 */
export const readableData = async (
  { type, data }: Pick<Recorded, 'type' | 'data'>,
  personal: Pick<PersonalData, 'display'>,
): Promise<ReadableData> => {
  const fields = fieldsOf(type);
  const readable: Record<string, JsonValue> = {};
  const omitted: string[] = [];
  for (const [field, value] of Object.entries(data as JsonObject)) {
    if (!fields.has(field)) continue;
    if (lengthOf(value) > maxFieldLength && bounded[type]?.includes(field) !== true) omitted.push(field);
    // Most fields hold nothing encrypted, and pages have thousands of values.
    else readable[field] = personKeysIn(value).length === 0 ? value : await decrypted(value, personal);
  }
  return { data: readable, omitted };
};

const lengthOf = (value: JsonValue): number =>
  typeof value === 'string' ? value.length : typeof value === 'object' ? JSON.stringify(value).length : 0;

const decrypted = async (value: JsonValue, personal: Pick<PersonalData, 'display'>): Promise<JsonValue> => {
  if (typeof value === 'string') return personal.display(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    return Promise.all((value as readonly JsonValue[]).map((part) => decrypted(part, personal)));
  }
  const parts = Object.entries(value as JsonObject).map(
    async ([field, part]) => [field, await decrypted(part, personal)] as const,
  );
  return Object.fromEntries(await Promise.all(parts));
};
