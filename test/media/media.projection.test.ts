import { mediaEvents } from '../../src/events/media/media.events.js';
import { mediaProjection, type MediaDocument } from '../../src/projections/media/media.projection.js';

import { describeProjection, happened } from '../support/projectionCases.js';

const ofMedia = { websiteId: 'w1', mediaId: 'm1' };
const variant = { file: 'w1/f1-480-webp', contentType: 'image/webp', width: 480, height: 320, size: 40 };
const data = {
  websiteId: 'w1',
  kind: 'image',
  file: 'w1/f1',
  name: 'shop.jpg',
  contentType: 'image/jpeg',
  size: 100,
  sha256: 'ab',
  alt: 'The shop',
  width: 600,
  height: 400,
} as const;
const live: MediaDocument = {
  id: 'm1',
  ...data,
  variants: [variant],
  stage: 'live',
  files: ['w1/f1', 'w1/f1-480-webp'],
  storedSize: 140,
  createdAt: happened,
  updatedAt: happened,
};
const deleted: MediaDocument = { ...live, stage: 'deleted', deletedAt: happened };
const { alt: _, ...silent } = live;

describeProjection(mediaProjection, [mediaEvents], {
  MediaUploaded: [{ when: { mediaId: 'm1', ...data, variants: [variant] }, then: live }],
  MediaDescribed: [
    { given: live, when: { ...ofMedia, alt: 'The red door', previousAlt: 'The shop' }, then: { ...live, alt: 'The red door' } },
    { shows: 'none any more', given: live, when: { ...ofMedia, previousAlt: 'The shop' }, then: silent },
    { shows: 'nothing of what is not there', when: ofMedia, then: null },
  ],
  MediaDeleted: [
    { given: live, when: ofMedia, then: deleted },
    { shows: 'nothing of what is not there', when: ofMedia, then: null },
  ],
  MediaRestored: [
    { given: deleted, when: ofMedia, then: live },
    { shows: 'nothing of what is not there', when: ofMedia, then: null },
  ],
  MediaPurged: [{ given: deleted, when: { ...ofMedia, files: ['w1/f1', 'w1/f1-480-webp'] }, then: null }],
});
