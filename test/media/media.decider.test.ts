import { describe, test } from '@jest/globals';
import { mediaDecider } from '../../src/commands/media/media.decider.js';
import { refusals } from '../../src/commands/refusal.js';
import type { MediaEvent } from '../../src/events/media/media.events.js';
import { earlier, expectRepeatable, given as givenEvents } from '../support/given.js';

const ofMedia = { websiteId: 'w1', mediaId: 'm1' };
const variant = { file: 'w1/f1-480-webp', contentType: 'image/webp', width: 480, height: 320, size: 40 };
const picture = {
  ...ofMedia,
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
const upload = { type: 'UploadMedia', ...picture, variants: [variant], room: 140, kept: 4_999 } as const;
const uploaded: MediaEvent = { type: 'MediaUploaded', data: { ...picture, variants: [variant] } };
const { alt: _, ...silent } = picture;
const film = { ...silent, kind: 'video', contentType: 'video/mp4', durationMs: 500 } as const;
const filmed: MediaEvent = { type: 'MediaUploaded', data: { ...film, variants: [] } };
const describeIt = { type: 'DescribeMedia', ...ofMedia, alt: 'The red door' } as const;
const remove = { type: 'DeleteMedia', ...ofMedia } as const;
const deleted: MediaEvent = { type: 'MediaDeleted', data: ofMedia };
const restore = { type: 'RestoreMedia', ...ofMedia, room: 140 } as const;
const restored: MediaEvent = { type: 'MediaRestored', data: ofMedia };
const purge = { type: 'PurgeMedia', ...ofMedia } as const;
const purged: MediaEvent = { type: 'MediaPurged', data: { ...ofMedia, files: ['w1/f1', 'w1/f1-480-webp'] } };

const given = (events: readonly MediaEvent[] = []) => givenEvents(mediaDecider, events);

describe('an image', () => {
  test('is uploaded with its variants, once', () => {
    given().when(upload).then([uploaded]);
    expectRepeatable(mediaDecider, [], upload);
  });

  test('needs no description', () => {
    given()
      .when({ ...upload, alt: undefined })
      .then([{ type: 'MediaUploaded', data: { ...silent, variants: [variant] } }]);
  });

  test('may be of an unknown size', () => {
    const { width: _width, height: _height, ...unmeasured } = picture;
    given()
      .when({ ...upload, width: undefined, height: undefined })
      .then([{ type: 'MediaUploaded', data: { ...unmeasured, variants: [variant] } }]);
  });

  test('has to find room with its variants', () => {
    given()
      .when({ ...upload, room: 139 })
      .thenRefused(refusals.storageLimitReached('w1'));
  });

  test('is one of so many', () => {
    given()
      .when({ ...upload, kept: 5_000 })
      .thenRefused(refusals.tooManyMedia());
  });

  test('is described anew, and left without a description', () => {
    given([uploaded])
      .when(describeIt)
      .then([{ type: 'MediaDescribed', data: { ...ofMedia, alt: 'The red door', previousAlt: 'The shop' } }]);
    given([uploaded])
      .when({ ...describeIt, alt: 'The shop' })
      .then([]);
    given([uploaded])
      .when({ ...describeIt, alt: null })
      .then([{ type: 'MediaDescribed', data: { ...ofMedia, previousAlt: 'The shop' } }]);
  });
});

describe('a video', () => {
  test('needs no description, and may get and lose one', () => {
    given()
      .when({ type: 'UploadMedia', ...film, variants: [], room: 100, kept: 0 })
      .then([filmed]);
    const described: MediaEvent = { type: 'MediaDescribed', data: { ...ofMedia, alt: 'The red door' } };
    given([filmed]).when(describeIt).then([described]);
    given([filmed, described])
      .when({ ...describeIt, alt: null })
      .then([{ type: 'MediaDescribed', data: { ...ofMedia, previousAlt: 'The red door' } }]);
  });
});

describe('a deletion', () => {
  test('is undone, once', () => {
    given([uploaded]).when(remove).then([deleted]);
    expectRepeatable(mediaDecider, [uploaded], remove);
    given([uploaded, deleted]).when(restore).then([restored]);
    expectRepeatable(mediaDecider, [uploaded, deleted], restore);
    given([uploaded]).when(restore).then([]);
    given([uploaded, deleted]).when(describeIt).thenRefused(refusals.mediaNotFound('m1'));
  });

  test('is undone only where there is room', () => {
    given([uploaded, deleted])
      .when({ ...restore, room: 139 })
      .thenRefused(refusals.storageLimitReached('w1'));
  });

  test('is undone for 30 days, and purged after them', () => {
    const last = new Date(Date.parse(earlier) + 30 * 86_400_000).toISOString();
    const old = new Date(Date.parse(last) + 1).toISOString();
    given([uploaded, deleted])
      .when({ ...restore, at: last })
      .then([restored]);
    given([uploaded, deleted])
      .when({ ...purge, at: last })
      .then([]);
    given([uploaded, deleted])
      .when({ ...restore, at: old })
      .thenRefused(refusals.mediaDeletedTooLongAgo('m1'));
    given([uploaded, deleted])
      .when({ ...purge, at: old })
      .then([purged]);
    given([uploaded, deleted, purged])
      .when({ ...purge, at: old })
      .then([]);
    given([uploaded, deleted, purged]).when(restore).thenRefused(refusals.mediaDeletedTooLongAgo('m1'));
    given([uploaded, deleted, purged]).when(remove).then([]);
  });

  test('for good takes what is live too', () => {
    given([uploaded]).when(purge).then([]);
    given([uploaded])
      .when({ ...purge, evenIfLive: true })
      .then([purged]);
  });
});

test.each([describeIt, remove, restore, purge])('$type of what is not there, or of another website, is not found', (command) => {
  given().when(command).thenRefused(refusals.mediaNotFound('m1'));
  given([uploaded])
    .when({ ...command, websiteId: 'w2' })
    .thenRefused(refusals.mediaNotFound('m1'));
});
