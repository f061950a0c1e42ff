import { createColors } from 'picocolors';
import { Refusal } from './command.js';
import { nearest } from './nearest.js';

/** Colours and weights; they do nothing where the output has none. */
export type Style = ReturnType<typeof createColors>;

/** A column of a list. */
export interface Column<Row> {
  readonly heading: string;
  /** What scripts read: the whole value, times as ISO 8601. Null and undefined are empty. */
  readonly value: (row: Row) => string | number | boolean | null | undefined;
  /** What people read, where that differs. */
  readonly shown?: (row: Row) => string;
  readonly style?: (text: string, style: Style, row: Row) => string;
  readonly right?: true;
  /** Left out on a terminal that is too narrow for all columns. */
  readonly spare?: true;
  /** Never cut: half of an amount is another one, and other commands take an id as it is. */
  readonly whole?: true;
}

/** A line of a resource's page: a label, and what scripts and people read. */
export type Line = readonly [label: string, value: string | number | boolean | null | undefined, shown?: string];

export interface OutputOptions {
  /** `--json`: true for the whole resource, otherwise the names of fields. */
  readonly json?: true | readonly string[];
  /** `--jq`. */
  readonly jq?: string;
}

type Stream = NodeJS.WriteStream;

/**
 * Whether a stream gets colours: NO_COLOR (no-color.org) and FORCE_COLOR decide before the terminal
 * does.
 */
const takesColours = (stream: Pick<Stream, 'isTTY'>, environment: NodeJS.ProcessEnv): boolean => {
  if ((environment.NO_COLOR ?? '') !== '') return false;
  const forced = environment.FORCE_COLOR ?? '';
  if (forced !== '') return forced !== '0' && forced !== 'false';
  return stream.isTTY && environment.TERM !== 'dumb';
};

/** What terminals would act on: control characters, and marks of direction. */
const controls = /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Text of the service on one line of a terminal. Clients write some of it: an escape sequence would
 * be carried out by the terminal, and a mark of direction would turn the line around.
 */
export const clean = (text: string): string =>
  text
    .replaceAll(/\s*\r?\n\s*/g, ' ')
    .replaceAll('\t', ' ')
    .replaceAll(controls, '\u{FFFD}');

/** As `clean`, but lines stay lines. */
export const cleanLines = (text: string): string => text.split(/\r?\n/).map(clean).join('\n');

/** A cell of tab-separated values: it may hold neither a tab nor a line break. */
const cell = (value: string | number | boolean | null | undefined): string =>
  String(value ?? '')
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll(controls, '\u{FFFD}');

const pick = (value: unknown, fields: readonly string[]): unknown => {
  if (Array.isArray(value)) return value.map((one) => pick(one, fields));
  const record = Object(value) as Record<string, unknown>;
  return Object.fromEntries(fields.map((field) => [field, record[field] ?? null]));
};

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Columns of a terminal; 80 where it says none, as serial lines do. */
export const columnsOf = ({ columns }: Pick<Stream, 'columns'>): number => (columns > 0 ? columns : 80);

/** Where commands print: data on standard output, all else on standard error. */
export class Output {
  /** Whether standard output is read by a person. */
  readonly isTerminal: boolean;
  /** For standard output. */
  readonly style: Style;
  /** For standard error. */
  readonly noteStyle: Style;

  readonly #options: OutputOptions;
  readonly #environment: NodeJS.ProcessEnv;
  /** Fields that were named as missing. */
  readonly #named = new Set<string>();

  constructor(options: OutputOptions, environment: NodeJS.ProcessEnv = process.env) {
    this.#options = options;
    this.#environment = environment;
    this.isTerminal = process.stdout.isTTY;
    this.style = createColors(takesColours(process.stdout, environment));
    this.noteStyle = createColors(takesColours(process.stderr, environment));
  }

  /** Columns of the terminal; without one, lines are as long as they are. */
  get width(): number {
    return process.stdout.isTTY ? columnsOf(process.stdout) : Infinity;
  }

  /** Whether `--json` or `--jq` was given: the resource alone is printed, whatever the view. */
  get isJson(): boolean {
    return this.#options.json !== undefined || this.#options.jq !== undefined;
  }

  /**
   * A list: a table on a terminal, tab-separated values without headings in a pipe.
   * @param empty - said on standard error when there is nothing: "No websites yet."
   */
  async list<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string): Promise<void> {
    if (this.isJson) {
      await this.json(rows);
      return;
    }
    if (rows.length === 0) {
      this.note(empty);
      return;
    }
    if (!this.isTerminal) {
      this.lines(rows.map((row) => columns.map(({ value }) => cell(value(row))).join('\t')));
      return;
    }
    const { table } = await import('./table.js');
    await this.page(table(rows, columns, this.width, this.style));
  }

  /** A resource: lines with labels on a terminal, label and value with a tab between in a pipe. */
  async resource(resource: unknown, lines: readonly Line[]): Promise<void> {
    if (this.isJson) {
      await this.json(resource);
      return;
    }
    if (!this.isTerminal) {
      this.lines(lines.map(([label, value]) => `${label}\t${cell(value)}`));
      return;
    }
    const present = lines.filter(([, value]) => value !== undefined && value !== null && value !== '');
    const width = Math.max(...present.map(([label]) => label.length));
    this.lines(
      present.map(([label, value, shown]) => `${this.style.dim(label.padEnd(width))}  ${clean(shown ?? String(value))}`),
    );
  }

  /**
   * A resource as a page of its own form: `view` gives the lines for people, `record` those of a
   * pipe (cells are joined by tabs). Without any, the lines for people are said on standard error.
   */
  async view(
    resource: unknown,
    view: (style: Style, width: number) => readonly string[] | Promise<readonly string[]>,
    record: () => readonly (readonly (string | number | boolean | null | undefined)[])[],
  ): Promise<void> {
    if (this.isJson) {
      await this.json(resource);
      return;
    }
    const records = this.isTerminal ? [] : record();
    if (records.length > 0) {
      this.lines(records.map((cells) => cells.map(cell).join('\t')));
      return;
    }
    const lines = await view(this.style, this.width);
    if (this.isTerminal) await this.page(lines);
    // An empty pipe does not say why: there is nothing, or nothing yet.
    else for (const line of lines) this.note(line);
  }

  /** The value by `--json` and `--jq`. */
  async json(value: unknown): Promise<void> {
    const { json, jq } = this.#options;
    const fields = json === true ? undefined : json;
    const picked = fields === undefined ? value : pick(value, fields);
    if (fields !== undefined) this.#nameMissing(value, fields);
    if (jq === undefined) this.raw(`${JSON.stringify(picked, null, 2)}\n`);
    else this.raw(await filter(picked, jq));
  }

  /**
   * The service leaves fields out where they are empty: one that is not there is a slip where its name
   * is like another, or where none of those asked for is there. In a stream each is named once.
   */
  #nameMissing(value: unknown, fields: readonly string[]): void {
    const there = [...new Set([value].flat().flatMap((one) => (isRecord(one) ? Object.keys(one) : [])))];
    if (there.length === 0) return;
    const hasNone = !fields.some((field) => there.includes(field));
    const slips = fields
      .filter((field) => !there.includes(field) && !this.#named.has(field))
      .filter((field) => hasNone || nearest(field, there) !== undefined);
    if (slips.length === 0) return;
    for (const field of slips) this.#named.add(field);
    this.note(`Nothing here has a field ${slips.join(', ')}. There are: ${there.join(', ')}.`);
  }

  /** Lines of data as they are. Text of the service goes through `clean` first. */
  lines(lines: readonly string[]): void {
    if (lines.length > 0) this.raw(`${lines.join('\n')}\n`);
  }

  /** Data as it is. */
  raw(data: string | Uint8Array): void {
    process.stdout.write(data);
  }

  /** A message for the person at the terminal, on standard error. */
  note(message: string): void {
    // The progress of an upload may stand on the line.
    const start = process.stderr.isTTY ? '\r\u001b[K' : '';
    process.stderr.write(`${start}${cleanLines(message)}\n`);
  }

  /** What was done, on standard error: a pipe gets data alone. The mark is for a terminal. */
  done(message: string): void {
    const mark = process.stderr.isTTY ? `${this.noteStyle.green('✓')} ` : '';
    process.stderr.write(`${mark}${cleanLines(message)}\n`);
  }

  /** Lines of data; through a pager when the terminal is too low for them. */
  async page(lines: readonly string[]): Promise<void> {
    const pager = this.#environment.DOORSTEP_PAGER ?? this.#environment.PAGER ?? 'less';
    const { isTTY, rows } = process.stdout;
    // Where the terminal does not say how many it shows, a pager would not know either.
    const fits = !isTTY || !(rows > 0) || lines.length < rows;
    if (fits || this.#environment.TERM === 'dumb' || pager === '' || pager === 'cat') {
      this.lines(lines);
      return;
    }
    const { throughPager } = await import('./pager.js');
    await throughPager(pager, `${lines.join('\n')}\n`, this.#environment);
  }
}

/** @throws Refusal with jq's words. Strings are printed without quotes, as `jq -r` does. */
const filter = async (value: unknown, expression: string): Promise<string> => {
  const { default: jq } = await import('jq-wasm');
  try {
    const printed = await jq.raw(JSON.stringify(value), expression, ['-r', '-c']);
    return printed === '' || printed.endsWith('\n') ? printed : `${printed}\n`;
  } catch (error) {
    const [words = ''] = (error as Error).message.split('\n');
    throw new Refusal(words.replace(/^Failed to execute raw query: /, ''));
  }
};
