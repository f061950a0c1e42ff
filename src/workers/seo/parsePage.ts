import { performance } from 'node:perf_hooks';
import type { Writable } from 'node:stream';
import type { CheerioAPI } from 'cheerio';

/** The nesting limit of browsers. Real pages stay far below this and the other limits. */
const MAX_DEPTH = 512;
const MAX_ELEMENTS = 50_000;
const MAX_ATTRIBUTES = 1_000;
/** Characters parsed at once; other work runs between two chunks. */
const CHUNK_LENGTH = 4_096;
/** Parsing time per page in milliseconds, for pages that are slow in spite of the other limits. */
const MAX_PARSE_MS = 5_000;

/** The internals of parse5 that are used: see its `Parser` and `Tokenizer`. */
interface Parser {
  readonly openElements: { readonly stackTop: number };
  readonly tokenizer: { readonly currentToken: { readonly attrs?: readonly unknown[] } | null };
  treeAdapter: { readonly createElement: (...parts: never[]) => unknown };
}

/**
 * Parses a page as browsers do. Parsing time can grow with the square of the length: two megabytes
 * of `<div>` would block the process for hours. Such a page is parsed only up to the point where it
 * exceeds a limit.
 */
export const parsePage = async (html: string): Promise<CheerioAPI> => {
  const { stringStream } = await import('cheerio');
  let end = (_page: CheerioAPI): void => undefined;
  let fail = (_error: Error): void => undefined;
  const parsed = new Promise<CheerioAPI>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  const stream = stringStream({}, (error, page) => {
    // Typed as always present, but absent on success.
    if (error instanceof Error) fail(error);
    else end(page);
  }) as Writable & { readonly parser: Parser };
  const { parser } = stream;
  let elements = 0;
  const { createElement } = parser.treeAdapter;
  parser.treeAdapter = {
    ...parser.treeAdapter,
    createElement: (...parts) => {
      elements += 1;
      return createElement(...parts);
    },
  };

  let spentMs = 0;
  const isOverLimit = (): boolean =>
    parser.openElements.stackTop > MAX_DEPTH ||
    elements > MAX_ELEMENTS ||
    (parser.tokenizer.currentToken?.attrs?.length ?? 0) > MAX_ATTRIBUTES ||
    spentMs > MAX_PARSE_MS;
  for (let at = 0; at < html.length && !isOverLimit(); at += CHUNK_LENGTH) {
    const startedAt = performance.now();
    stream.write(html.slice(at, at + CHUNK_LENGTH));
    spentMs += performance.now() - startedAt;
    await new Promise((resolve) => setImmediate(resolve));
  }
  stream.end();
  return parsed;
};

/** How many nodes of an element are read for its text. */
const MAX_NODES = 2_000;
const MAX_CHARACTERS = 2_000;

interface Node {
  readonly type: string;
  readonly name?: string;
  readonly data?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  readonly children?: readonly Node[];
}

/** All pieces of text in an element, in order. */
export const textsIn = (element: Node): string[] => {
  const texts: string[] = [];
  const waiting = [element];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (part.type === 'text' && part.data !== undefined) texts.push(part.data);
    for (const child of [...(part.children ?? [])].reverse()) waiting.push(child);
  }
  return texts;
};

/** The text of an element without that of the elements in it, which may have as much text each. */
export const ownTextOf = ({ children = [] }: Node): string =>
  children.map(({ type, data = '' }) => (type === 'text' ? data : '')).join('');

/**
 * The text of an element as a screen reader reads it: texts, labels, and alternative texts of
 * images.
 */
export const visibleTextOf = (element: Node): string => {
  const words: string[] = [];
  const waiting = [element];
  let characters = 0;
  for (let seen = 0; seen < MAX_NODES && characters < MAX_CHARACTERS; seen += 1) {
    const part = waiting.pop();
    if (part === undefined) break;
    const { 'aria-label': label, alt } = part.attribs ?? {};
    for (const word of [part.type === 'text' ? part.data : undefined, label, part.name === 'img' ? alt : undefined]) {
      if (word === undefined) continue;
      words.push(word.slice(0, MAX_CHARACTERS));
      characters += word.length;
    }
    waiting.push(...(part.children ?? []).slice(0, MAX_NODES).reverse());
  }
  return words.join('').replaceAll(/\s+/g, ' ').trim();
};
