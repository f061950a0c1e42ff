import { describe, test } from '@jest/globals';
import { documentDecider } from '../../src/commands/document/document.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { DocumentEvent } from '../../src/events/document/document.events.js';
import { earlier, expectRepeatable, given as givenEvents } from '../support/given.js';

const of = { websiteId: 'w1', documentId: 'd1' };
const file = { file: 'w1/f1', name: 'plan.pdf', contentType: 'application/pdf', size: 100, sha256: 'ab' };
const upload = { type: 'UploadDocument', ...of, ...file, room: 100 } as const;
const uploaded: DocumentEvent = { type: 'DocumentUploaded', data: { ...of, ...file } };
const rename = { type: 'RenameDocument', ...of, name: 'site.pdf' } as const;
const renamed: DocumentEvent = { type: 'DocumentRenamed', data: { ...of, name: 'site.pdf', previousName: 'plan.pdf' } };
const remove = { type: 'DeleteDocument', ...of } as const;
const deleted: DocumentEvent = { type: 'DocumentDeleted', data: of };
const restore = { type: 'RestoreDocument', ...of, room: 100 } as const;
const restored: DocumentEvent = { type: 'DocumentRestored', data: of };
const purge = { type: 'PurgeDocument', ...of } as const;
const purged: DocumentEvent = { type: 'DocumentPurged', data: { ...of, file: 'w1/f1' } };
/** 30 days after the given events, the last moment of a restoration, and the first after it. */
const last = new Date(Date.parse(earlier) + 30 * 86_400_000).toISOString();
const long = new Date(Date.parse(last) + 1).toISOString();

const given = (...events: readonly DocumentEvent[]) => givenEvents(documentDecider, events);

describe('a document', () => {
  test('is uploaded where there is room for it', () => {
    given().when(upload).then([uploaded]);
    given()
      .when({ ...upload, room: 99 })
      .thenRefused(refusals.storageLimitReached('w1'));
  });

  test('is renamed', () => {
    given(uploaded).when(rename).then([renamed]);
    given(uploaded)
      .when({ ...rename, name: 'plan.pdf' })
      .then([]);
  });

  test('is deleted, and restored with the name that it had', () => {
    given(uploaded).when(remove).then([deleted]);
    given(uploaded, renamed, deleted).when(restore).then([restored]);
    given(uploaded, renamed, deleted, restored)
      .when({ ...rename, name: 'x' })
      .then([{ type: 'DocumentRenamed', data: { ...of, name: 'x', previousName: 'site.pdf' } }]);
  });

  test('is restored only where there is room for it', () => {
    given(uploaded, deleted)
      .when({ ...restore, room: 99 })
      .thenRefused(refusals.storageLimitReached('w1'));
  });

  test('is not restored 30 days after its deletion, nor once it is purged', () => {
    const tooLate = refusals.documentDeletedTooLongAgo('d1');
    given(uploaded, deleted)
      .when({ ...restore, at: last })
      .then([restored]);
    given(uploaded, deleted)
      .when({ ...restore, at: long })
      .thenRefused(tooLate);
    given(uploaded, deleted, purged).when(restore).thenRefused(tooLate);
  });

  test('is purged 30 days after its deletion, and not before', () => {
    given(uploaded, deleted)
      .when({ ...purge, at: last })
      .then([]);
    given(uploaded, deleted)
      .when({ ...purge, at: long })
      .then([purged]);
    given(uploaded)
      .when({ ...purge, at: long })
      .then([]);
    given(uploaded, deleted, restored)
      .when({ ...purge, at: long })
      .then([]);
  });

  test('is purged with its website, whatever became of it', () => {
    for (const events of [[uploaded], [uploaded, deleted]]) {
      given(...events)
        .when({ ...purge, evenIfLive: true })
        .then([purged]);
    }
  });

  test.each([rename, remove, restore, purge])('of another website is not found: $type', (command) => {
    given(uploaded)
      .when({ ...command, websiteId: 'w2' })
      .thenRefused(refusals.documentNotFound('d1'));
    given().when(command).thenRefused(refusals.documentNotFound('d1'));
  });

  test('that is deleted is not renamed', () => {
    given(uploaded, deleted).when(rename).thenRefused(refusals.documentNotFound('d1'));
    given(uploaded, deleted, purged).when(rename).thenRefused(refusals.documentNotFound('d1'));
  });

  test.each([
    ['uploaded', [], upload],
    ['renamed', [uploaded], rename],
    ['deleted', [uploaded], remove],
    ['restored', [uploaded, deleted], restore],
    ['purged', [uploaded], { ...purge, evenIfLive: true }],
  ] as const)('%s twice is the same', (_, events, command) => {
    expectRepeatable(documentDecider, [...events], command);
  });
});
