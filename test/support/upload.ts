import type { ApiAnswer, RunningApi } from './http.js';

export interface SentFile {
  readonly name?: string;
  readonly content: string | Uint8Array;
  /** As its sender says. */
  readonly type?: string;
}

const boundary = 'a-boundary-of-the-tests';

const bytesOf = (content: string | Uint8Array): Buffer =>
  typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);

/** `multipart/form-data` as browsers send it (RFC 7578). */
export const formOf = (
  { name = 'plan.pdf', content, type = 'application/octet-stream' }: SentFile,
  fields: Readonly<Record<string, string>> = {},
): { readonly raw: Uint8Array; readonly headers: Readonly<Record<string, string>> } => {
  const quoted = name.replaceAll('"', '%22');
  const parts = Object.entries(fields).map(
    ([field, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
  );
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${quoted}"\r\ncontent-type: ${type}\r\n\r\n`;
  return {
    raw: Buffer.concat([Buffer.from(parts.join('') + head), bytesOf(content), Buffer.from(`\r\n--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
};

/** A form that is sent as it is written here, with `|` for the boundary. */
export const rawForm = (text: string): { readonly raw: string; readonly headers: Readonly<Record<string, string>> } => ({
  raw: text.replaceAll('\n', '\r\n').replaceAll('|', boundary),
  headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
});

export interface SentForm extends SentFile {
  readonly fields?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token: string;
}

/** Posts a file. */
export const upload = (api: RunningApi, path: string, { token, fields, headers, ...file }: SentForm): Promise<ApiAnswer> => {
  const form = formOf(file, fields);
  return api.call('POST', path, { token, raw: form.raw, headers: { ...form.headers, ...headers } });
};

export const pdf = '%PDF-1.7\n1 0 obj <<>> endobj\ntrailer <<>>\n%%EOF\n';
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
