import { performance } from 'node:perf_hooks';
import type { Writable } from 'node:stream';
import type { CheerioAPI } from 'cheerio';

/** As deep as browsers let elements be inside each other; no page that people write comes near, nor to the other limits. */
const DEEPEST = 512;
const MOST_ELEMENTS = 50_000;
const MOST_ATTRIBUTES = 1_000;
/** What the parser is given at once, in characters: between two pieces others get their turn. */
const PIECE = 4_096;
/** What one page may cost, in milliseconds of parsing, if it finds yet another way to be costly. */
const MOST_MS = 5_000;

/** What is counted on: see `Parser` and `Tokenizer` of parse5. */
interface Parser {
  readonly openElements: { readonly stackTop: number };
  readonly tokenizer: { readonly currentToken: { readonly attrs?: readonly unknown[] } | null };
  treeAdapter: { readonly createElement: (...parts: never[]) => unknown };
}

/**
 * Parses a page as browsers do, or the beginning of it. Some pages cost the parser the square of their length: two megabytes of `<div>`
 * would keep the whole process busy for hours. Of those only what comes before they become too much is seen.
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
    // Typed as never absent, which it is when all went well.
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
  const isTooMuch = (): boolean =>
    parser.openElements.stackTop > DEEPEST ||
    elements > MOST_ELEMENTS ||
    (parser.tokenizer.currentToken?.attrs?.length ?? 0) > MOST_ATTRIBUTES ||
    spentMs > MOST_MS;
  for (let at = 0; at < html.length && !isTooMuch(); at += PIECE) {
    const begunAt = performance.now();
    stream.write(html.slice(at, at + PIECE));
    spentMs += performance.now() - begunAt;
    await new Promise((resolve) => setImmediate(resolve));
  }
  stream.end();
  return parsed;
};

/** What is looked at of an element, as its parts: more of them say nothing that anybody reads. */
const MOST_PARTS = 2_000;
const MOST_CHARACTERS = 2_000;

interface Part {
  readonly type: string;
  readonly name?: string;
  readonly data?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  readonly children?: readonly Part[];
}

/** What is read out of an element, from the beginning of it: texts, and what stands for images and unnamed things. */
export const wordsOf = (element: Part): string => {
  const words: string[] = [];
  const waiting = [element];
  let characters = 0;
  for (let seen = 0; seen < MOST_PARTS && characters < MOST_CHARACTERS; seen += 1) {
    const part = waiting.pop();
    if (part === undefined) break;
    const { 'aria-label': label, alt } = part.attribs ?? {};
    for (const word of [part.type === 'text' ? part.data : undefined, label, part.name === 'img' ? alt : undefined]) {
      if (word === undefined) continue;
      words.push(word.slice(0, MOST_CHARACTERS));
      characters += word.length;
    }
    waiting.push(...(part.children ?? []).slice(0, MOST_PARTS).reverse());
  }
  return words.join('').replaceAll(/\s+/g, ' ').trim();
};
