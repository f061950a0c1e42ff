export { Doorstep, type AnyInit } from './doorstep.js';
export type { Answer, Call, List, Page, Paged } from './call.js';
export type { DoorstepOptions, TokenSource } from './client.js';
export * from './errors.js';
export type { ServerSentEvent, WatchOptions } from './eventStream.js';
export type { Defaults, Method, ParseAs, PathWith, RequestOptions } from './types.js';
export type { FileInput, Progress, UploadBody, UploadOptions } from './upload.js';
export type * from './generated/models.js';
export type { components, operations, paths } from './generated/schema.js';
