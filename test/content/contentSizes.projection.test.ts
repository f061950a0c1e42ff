import { describe, expect, test } from '@jest/globals';
import type { ContentEvent } from '../../src/events/content/content.events.js';
import { contentSizesProjection, type ContentSizes } from '../../src/projections/content/contentSizes.projection.js';
import { recorded } from '../support/given.js';

type Saved = Extract<ContentEvent, { type: 'ContentSaved' | 'ContentRestored' }>;

const saved = (documentId: string, body: unknown, type: Saved['type'] = 'ContentSaved'): Saved => ({
  type,
  data: { websiteId: 'w1', collection: 'content', documentId, hash: 'a', body },
});
const fold = (...events: readonly Saved[]): ContentSizes | null =>
  events.reduce<ContentSizes | null>((sizes, event) => contentSizesProjection.evolve(sizes, recorded(event)), null);

describe('the projection of sizes of content', () => {
  test('has the bytes of each document of a collection', () => {
    expect(fold(saved('site', { a: 'é' }), saved('about', []))).toStrictEqual({
      documents: [
        { id: 'site', bytes: 10 },
        { id: 'about', bytes: 2 },
      ],
    });
  });

  test('has those of what was saved or restored last', () => {
    expect(fold(saved('site', { a: 1 }), saved('about', []), saved('site', {}, 'ContentRestored'))).toStrictEqual({
      documents: [
        { id: 'about', bytes: 2 },
        { id: 'site', bytes: 2 },
      ],
    });
  });

  test('keeps the collections of a website apart', () => {
    const { data } = saved('site', {});
    const documentOf = (event: Saved) => contentSizesProjection.documentId(recorded(event));
    expect(documentOf({ type: 'ContentSaved', data })).toBe('w1/content');
    expect(documentOf({ type: 'ContentSaved', data: { ...data, collection: 'marketing' } })).toBe('w1/marketing');
  });
});
