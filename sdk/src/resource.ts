export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly dryRun?: boolean;
}
export interface UploadOptions extends RequestOptions {
  readonly onProgress?: (progress: { readonly sent: number; readonly total: number | undefined }) => void;
}
export type FileInput = string | Blob | ReadableStream<Uint8Array>;
export type UploadBody<Request extends { file: string }> = Omit<Request, 'file'> & { file: FileInput; fileName?: string };
export interface Call<T> extends Promise<T> {
  withResponse(): Promise<{ data: T; response: Response; requestId: string | undefined }>;
}
export interface List<T> extends Call<T[]>, AsyncIterable<T> {
  pages(): AsyncIterable<T[]>;
}
export interface Paged<T> extends Call<T> {
  pages(): AsyncIterable<T>;
}
export interface Client {
  call<T>(
    method: string,
    path: string,
    params: object,
    input: object,
    options?: RequestOptions,
    parse?: 'json' | 'blob' | 'text',
  ): Call<T>;
  list<T>(path: string, params: object, query: object | undefined, options?: RequestOptions): List<T>;
  paged<T>(path: string, params: object, query: object | undefined, options?: RequestOptions): Paged<T>;
  stream<T>(
    path: string,
    params: object,
    query: object | undefined,
    options: RequestOptions | undefined,
    what: 'data' | 'event',
  ): AsyncIterable<T>;
  upload<T>(path: string, params: object, body: object, options?: UploadOptions): Call<T>;
  export(
    path: string,
    params: object,
    query: object | undefined,
    type: string,
    options?: RequestOptions,
  ): Call<ReadableStream<Uint8Array>>;
}
export abstract class Resource {
  protected readonly _client: Client;
  constructor(client: Client) {
    this._client = client;
  }
}
