import { test } from '@jest/globals';
import { previewDecider } from '../../src/commands/preview/preview.decider.js';
import { expectRepeatable, given } from '../support/given.js';

const preview = { previewId: 'p1', websiteId: 'w1', expiresAt: '2026-01-02T01:00:00.000Z' };
const record = { type: 'RecordPreview', ...preview } as const;

test('a preview is recorded once, with when it ends', () => {
  given(previewDecider)
    .when(record)
    .then([{ type: 'ContentPreviewed', data: preview }]);
  expectRepeatable(previewDecider, [], record);
  given(previewDecider, [{ type: 'ContentPreviewed', data: preview } as const])
    .when({ ...record, expiresAt: '2026-01-02T02:00:00.000Z' })
    .then([]);
});
