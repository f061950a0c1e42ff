import type { FileStore } from '../files/port.js';
import { createPictureProcessor } from './pictures.js';
import type { MediaProcessor } from './port.js';
import { readVideo } from './videos.js';

/** Pictures by sharp, containers of videos by a reader of our own; both run in this process. */
export const createMediaProcessor = (files: FileStore): MediaProcessor => ({
  processPicture: createPictureProcessor(files),
  readVideo: (file) => readVideo(files, file),
  removeVariants: async (variants) => {
    for (const { key } of variants) await files.remove(key);
  },
});
