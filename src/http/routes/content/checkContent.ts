import { LRUCache } from 'lru-cache';
import { Refused, refusals, type Violation } from '../../../commands/refusal.js';
import type { ContentCollection } from '../../../events/content/content.events.js';
import { ProviderFault } from '../../../integrations/fault.js';
import type { EditableSchema, SourceHost } from '../../../integrations/sourceHost/port.js';
import { partValidator, type Validate } from '../../validation.js';

/** The ids of the documents that a template declares, in its order. */
export const declaredIn = (editable: EditableSchema | null): readonly string[] => Object.keys(editable?.properties ?? {});

/** Refuses what may not be saved as a document. @throws Refused; ProviderFault */
export type CheckContent = (
  website: { readonly templateId: string },
  collection: ContentCollection,
  documentId: string,
  body: unknown,
) => Promise<void>;

/**
 * Checks documents against what the website's template declares. What it does not declare, and
 * marketing, is any object or list.
 */
export const createCheckContent = (sourceHost: Pick<SourceHost, 'provider' | 'readEditable'>): CheckContent => {
  const validators = new LRUCache<string, Validate>({ max: 500 });

  const validatorOf = (templateId: string, documentId: string, editable: EditableSchema): Validate => {
    const key = JSON.stringify([documentId, editable]);
    try {
      const validate = validators.get(key) ?? partValidator(editable, `/properties/${documentId}`, 'body');
      validators.set(key, validate);
      return validate;
    } catch (error) {
      const message = `what can be edited of the template ${templateId} is not a JSON Schema`;
      throw new ProviderFault({ provider: sourceHost.provider, message, transient: false, cause: error });
    }
  };

  return async ({ templateId }, collection, documentId, body) => {
    const refuse = (violations: readonly Violation[]): void => {
      const [first, ...others] = violations;
      if (first !== undefined) throw new Refused(refusals.invalidBody(first.field, first.issue, others));
    };
    refuse(inexactNumbers(body, 'body'));
    const editable = collection === 'content' ? await sourceHost.readEditable(templateId) : null;
    if (editable !== null && declaredIn(editable).includes(documentId)) {
      refuse(validatorOf(templateId, documentId, editable)(body));
    } else if (typeof body !== 'object' || body === null) {
      refuse([{ field: 'body', issue: 'must be an object or a list' }]);
    }
  };
};

/** Whole numbers that `JSON.parse` has rounded already: they would be stored as others than were sent. */
const inexactNumbers = (value: unknown, field: string): readonly Violation[] => {
  if (typeof value === 'number') {
    const isExact = !Number.isInteger(value) || Number.isSafeInteger(value);
    return isExact && Number.isFinite(value) ? [] : [{ field, issue: 'must be a number that is kept exactly: send it as text' }];
  }
  if (typeof value !== 'object' || value === null) return [];
  for (const [name, part] of Object.entries(value)) {
    const [first] = inexactNumbers(part, `${field}.${name}`.slice(0, maxFieldLength));
    if (first !== undefined) return [first];
  }
  return [];
};

const maxFieldLength = 200;
