import { isoTime } from '../platform/clock.js';

/** How long deleted documents, images and videos can be restored; their files are kept as long. */
const undoMs = 30 * 86_400_000;

/** Documents, images and videos that were deleted before this time are purged. ISO 8601 UTC, as `at`. */
export const purgedBefore = (at: string): string => isoTime(Date.parse(at) - undoMs);
