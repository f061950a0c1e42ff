import { documentEvents } from '../../src/events/document/document.events.js';
import { documentProjection, type DocumentDocument } from '../../src/projections/document/document.projection.js';
import { describeProjection, happened } from '../support/projectionCases.js';

const of = { websiteId: 'w1', documentId: 'd1' };
const file = { file: 'w1/f1', name: 'plan.pdf', contentType: 'application/pdf', size: 1_234, sha256: 'ab' };
const earlier = '2026-01-01T00:00:00.000Z';
const document: DocumentDocument = {
  id: 'd1',
  websiteId: 'w1',
  stage: 'live',
  ...file,
  sizeOrder: '0000000000001234',
  createdAt: earlier,
  updatedAt: earlier,
};
const deleted: DocumentDocument = { ...document, stage: 'deleted', deletedAt: earlier };

describeProjection(
  documentProjection,
  [documentEvents],
  {
    DocumentUploaded: [{ when: { ...of, ...file }, then: { ...document, createdAt: happened, updatedAt: happened } }],
    DocumentRenamed: [
      {
        given: document,
        when: { ...of, name: 'site.pdf', previousName: 'plan.pdf' },
        then: { ...document, name: 'site.pdf', updatedAt: happened },
      },
    ],
    DocumentDeleted: [{ given: document, when: of, then: { ...document, stage: 'deleted', deletedAt: happened } }],
    DocumentRestored: [{ given: deleted, when: of, then: document }],
    DocumentPurged: [{ given: deleted, when: { ...of, file: 'w1/f1' }, then: null }],
  },
  'd1',
);
