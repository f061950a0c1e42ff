export type * from './generated/models.js';
export type { Call, FileInput, List, Paged, RequestOptions, UploadBody, UploadOptions } from './resource.js';
export { Resources } from './generated/resources.js';
