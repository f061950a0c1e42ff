import { contentEvents } from '../../src/events/content/content.events.js';
import { contentProjection, type ContentDocument } from '../../src/projections/content/content.projection.js';
import { someAdmin } from '../support/given.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const ofDocument = { websiteId: 'w1', collection: 'content', documentId: 'company' } as const;
const document: ContentDocument = {
  websiteId: 'w1',
  collection: 'content',
  id: 'company',
  hash: 'a',
  json: '{"a":1,"b":[]}',
  updatedAt: happened,
  updatedBy: { ...someAdmin },
  shelf: 'w1/content',
};
const published = { publishedHash: 'a', publishedAt: happened };

describeProjection(contentProjection, [contentEvents], {
  ContentSaved: [
    { when: { ...ofDocument, hash: 'a', body: { b: [], a: 1 } }, then: document },
    {
      shows: 'what was published before',
      given: { ...document, ...published },
      when: { ...ofDocument, hash: 'b', body: {} },
      then: { ...document, ...published, hash: 'b', json: '{}' },
    },
  ],
  ContentRestored: [
    { given: document, when: { ...ofDocument, hash: 'b', body: [] }, then: { ...document, hash: 'b', json: '[]' } },
  ],
  ContentPublished: [
    { given: document, when: { ...ofDocument, hash: 'a', commit: 'c1' }, then: { ...document, ...published } },
    { shows: 'none is made', when: { ...ofDocument, hash: 'a', commit: 'c1' }, then: null },
  ],
});
