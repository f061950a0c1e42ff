import { Refused, refusals, type Violation } from '../../../commands/refusal.js';
import {
  maxFieldLength,
  maxSiteFileBytes,
  picturesIn,
  type FindSiteMedia,
  type SiteMedia,
} from '../../../events/content/content.files.js';
import type { ContentCollection } from '../../../events/content/content.events.js';
import { TemplateFault } from '../../../integrations/fault.js';
import { declaredIn, type EditableSchema, type SourceHost } from '../../../integrations/sourceHost/port.js';
import { maxViolations, partValidator, type Validate } from '../../validation.js';
import { createCache } from '../../../platform/cache.js';
import { lazily } from '../../../platform/lazily.js';

/**
 * Refuses what may not be saved as a document.
 * @param former reads a version whose pictures were there when it was saved: it may go on naming those that were
 *   deleted since
 * @throws Refused; ProviderFault; TemplateFault
 */
export type CheckContent = (
  website: { readonly id: string; readonly templateId: string },
  collection: ContentCollection,
  documentId: string,
  body: unknown,
  former: () => Promise<unknown>,
) => Promise<void>;

/**
 * Checks documents against what the website's template declares. What it does not declare, and
 * marketing, is any object or list.
 */
export const createCheckContent = (
  sourceHost: Pick<SourceHost, 'provider' | 'readEditable'>,
  findMedia: FindSiteMedia,
): CheckContent => {
  const validators = createCache<Validate>(500);

  const validatorOf = (templateId: string, documentId: string, editable: EditableSchema): Validate => {
    const key = JSON.stringify([documentId, editable]);
    try {
      const validate = validators.get(key) ?? partValidator(editable, `/properties/${documentId}`, 'body');
      validators.set(key, validate);
      return validate;
    } catch (error) {
      const message = `what can be edited of the template ${templateId} is not a JSON Schema`;
      throw new TemplateFault({ provider: sourceHost.provider, message, transient: false, cause: error });
    }
  };

  const issueWith = (media: SiteMedia): string =>
    media.variants.some(({ bytes }) => bytes > maxSiteFileBytes) ? 'has more than 50 MiB, which no site can show' : '';

  const wrongPictures = async (
    websiteId: string,
    body: unknown,
    former: () => Promise<unknown>,
  ): Promise<readonly Violation[]> => {
    const violations: Violation[] = [];
    const namedFormerly = lazily(async () => new Set(picturesIn(await former()).map(({ mediaId }) => mediaId)));
    const issueOf = async (mediaId: string): Promise<string> => {
      const media = await findMedia(websiteId, mediaId);
      if (media !== null) return issueWith(media);
      return (await namedFormerly()).has(mediaId) ? '' : 'is no picture or video of this website';
    };
    /** What is wrong with each; empty: nothing. */
    const known = new Map<string, string>();
    for (const { mediaId, field } of picturesIn(body, 'body')) {
      const issue = known.get(mediaId) ?? (await issueOf(mediaId));
      known.set(mediaId, issue);
      if (issue !== '' && violations.length < maxViolations) violations.push({ field, issue });
      if (known.size > maxPictures) return [{ field: 'body', issue: `must name at most ${String(maxPictures)} pictures` }];
    }
    return violations;
  };

  return async ({ id: websiteId, templateId }, collection, documentId, body, former) => {
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
    refuse(await wrongPictures(websiteId, body, former));
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

/** Each is looked up when a document is saved, and its files are read when it is published. */
const maxPictures = 100;
