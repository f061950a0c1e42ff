import { nextQuery } from '@doorstep/sdk';
import { UsageError } from './command.js';
import type { Context } from './context.js';
import { readText } from './files.js';

interface ApiOptions {
  readonly field: readonly string[];
  readonly rawField: readonly string[];
  readonly input: string | undefined;
  readonly header: readonly string[];
  readonly include: boolean;
  readonly paginate: boolean;
}

interface ApiArguments {
  readonly method: string;
  readonly path: string;
}

type Fields = Record<string, unknown>;

/** What `request` of the SDK takes where the path is not known beforehand. */
interface AnyRequest {
  request(
    method: string,
    path: string,
    init: object,
  ): { withResponse(): Promise<{ data: ReadableStream<Uint8Array> | null; response: Response }> };
}

/** Calls a path of the API, and prints its answer: JSON as such, everything else byte by byte. */
export const callApi = async (context: Context, { method, path }: ApiArguments, options: ApiOptions): Promise<void> => {
  const { output, globals, interruption } = context;
  const firstPath = path.replace(/^\/?(v1\/)?/, '/');
  const fields = await readFields(context, options);
  const isRead = method === 'GET' || method === 'DELETE';
  if (options.paginate && method !== 'GET') throw new UsageError('--paginate is for GET');
  if (options.input !== undefined && Object.keys(fields).length > 0 && !isRead)
    throw new UsageError('--input and fields exclude each other');
  if (options.input !== undefined && method === 'GET') throw new UsageError('--input is the body of a write: a GET has none');
  const body = options.input !== undefined ? await readInput(context, options.input) : isRead ? undefined : fields;
  const client = (await context.doorstep()) as unknown as AnyRequest;

  let asked = firstPath;
  let query = isRead ? fields : {};
  const pages: unknown[] = [];
  for (;;) {
    const { data, response } = await client
      .request(method, asked, {
        params: { query },
        ...(body !== undefined && { body }),
        headers: headersOf(options.header),
        parseAs: 'stream',
        signal: interruption.signal,
        ...(globals.dryRun && { dryRun: true }),
        ...(globals.idempotencyKey !== undefined && { idempotencyKey: globals.idempotencyKey }),
      })
      .withResponse();
    if (options.include) output.lines([...headOf(response), '']);
    if (!/[/+]json\b/.test(response.headers.get('content-type') ?? '')) {
      for await (const chunk of data ?? []) output.raw(chunk);
      return;
    }
    const page: unknown = await new Response(data).json();
    pages.push(page);
    const next = nextQuery(response);
    if (next !== undefined && !options.paginate) output.note('This is one page of several. Add --paginate for all of them.');
    if (next === undefined || !options.paginate) break;
    asked = `${firstPath.replace(/\?.*$/, '')}?${next.toString()}`;
    query = {};
  }
  if (!options.paginate) await output.json(pages[0]);
  else if (pages.every(Array.isArray)) await output.json(pages.flat());
  else for (const page of pages) await output.json(page);
};

const headOf = ({ status, statusText, headers }: Response): string[] => [
  `HTTP/1.1 ${String(status)} ${statusText}`,
  ...[...headers].map(([name, value]) => `${name}: ${value}`),
];

const headersOf = (headers: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    headers.map((header) => {
      const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(header) ?? [];
      if (name === undefined || value === undefined) throw new UsageError(`--header: "${header}" is not name:value`);
      return [name, value];
    }),
  );

/** A file's text; `-` is standard input. */
const readSource = async (context: Context, source: string): Promise<string> =>
  source === '-' ? await context.stdin() : await readText(source);

const readInput = async (context: Context, source: string): Promise<unknown> => {
  const text = await readSource(context, source);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new UsageError(`--input: ${source === '-' ? 'standard input' : source} is not JSON`);
  }
};

const readFields = async (context: Context, { field, rawField }: ApiOptions): Promise<Fields> => {
  const fields: Fields = {};
  for (const one of field) {
    const [key, value] = splitField('--field', one);
    place(fields, key, value.startsWith('@') ? await readSource(context, value.slice(1)) : typed(value));
  }
  for (const one of rawField) place(fields, ...splitField('--raw-field', one));
  return fields;
};

const splitField = (option: string, field: string): [key: string, value: string] => {
  const at = field.indexOf('=');
  if (at < 1) throw new UsageError(`${option}: "${field}" is not key=value`);
  return [field.slice(0, at), field.slice(at + 1)];
};

const literals: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };

const typed = (value: string): unknown => {
  if (Object.hasOwn(literals, value)) return literals[value];
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(value) ? Number(value) : value;
};

/** Sets `a[b]=…` inside `a`, and adds `a[]=…` to the list `a`. */
const place = (fields: Fields, key: string, value: unknown): void => {
  const [, name = key, inside] = /^([^[\]]+)\[([^[\]]*)\]$/.exec(key) ?? [];
  if (inside === undefined) fields[name] = value;
  else if (inside === '') fields[name] = [...((fields[name] as unknown[] | undefined) ?? []), value];
  else fields[name] = { ...(fields[name] as Fields | undefined), [inside]: value };
};
