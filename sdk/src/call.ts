/** What was answered, and what came with it. */
export interface Answer<T> {
  readonly data: T;
  /** Its body is read already, unless it is asked for as a stream. */
  readonly response: Response;
  /** Names the request in the log of the service. */
  readonly requestId: string | undefined;
}

/** A request under way: a promise of its result. */
export class Call<T> implements Promise<T> {
  readonly #answer: Promise<Answer<T>>;

  constructor(answer: Promise<Answer<T>>) {
    this.#answer = answer;
  }

  get [Symbol.toStringTag](): string {
    return 'Call';
  }

  /** The result together with the response: its status and headers, such as `ETag`. */
  withResponse(): Promise<Answer<T>> {
    return this.#answer;
  }

  then<Result = T, Failure = never>(
    onFulfilled?: ((data: T) => Result | PromiseLike<Result>) | null,
    onRejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#answer.then(({ data }) => data).then(onFulfilled, onRejected);
  }

  catch<Failure = never>(onRejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null): Promise<T | Failure> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.then().finally(onFinally);
  }
}

type Query = Readonly<Record<string, unknown>>;
type ReadPage<T> = (query: Query) => Promise<Answer<T>>;

/** A call whose answer comes in pages: a promise of the first one. */
export class Paged<T> extends Call<T> {
  readonly #readPage: ReadPage<T>;

  constructor(readPage: ReadPage<T>, query: Query) {
    super(readPage(query));
    this.#readPage = readPage;
  }

  /** All pages, each read when it is asked for. None while nothing has changed since `ifNoneMatch`. */
  async *pages(): AsyncGenerator<T, void, undefined> {
    let answer = await this.withResponse();
    for (;;) {
      if (answer.response.status === 304) return;
      yield answer.data;
      const next = nextQuery(answer.response);
      if (next === undefined) return;
      answer = await this.#readPage(Object.fromEntries(next));
    }
  }
}

/** One page of a list: an array that knows whether there is more. */
export type Page<T> = T[] & {
  /** Whether there are items after these. */
  readonly hasMore: boolean;
  /** The `cursor` of the next page. */
  readonly nextCursor: string | undefined;
  /** How many items there are in all; with `count: true` in the query. */
  readonly total: number | undefined;
};

/** A list: a promise of its first page, and an async iterable of all its items. */
export class List<T> extends Paged<Page<T>> implements AsyncIterable<T> {
  constructor(readPage: ReadPage<T[]>, query: Query) {
    super(async (asked) => {
      const answer = await readPage(asked);
      return { ...answer, data: pageOf(answer) };
    }, query);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page;
  }
}

/** What stands beside the items does not show where the array is printed or compared. */
const pageOf = <T>({ data, response }: Answer<T[]>): Page<T> => {
  // An answer without a body: there is no array to say it of.
  if (response.status === 304) return data as Page<T>;
  const next = nextQuery(response);
  const total = response.headers.get('total-count');
  return Object.defineProperties(data as Page<T>, {
    hasMore: { value: next !== undefined },
    nextCursor: { value: next?.get('cursor') ?? undefined },
    total: { value: total === null ? undefined : Number(total) },
  });
};

/**
 * The query of the next page (RFC 8288), for a path of `request`. Only the query: behind a proxy the
 * service may be known by another address than the one that it writes, and the token is for this one alone.
 * @returns `undefined` after the last page
 */
export const nextQuery = ({ headers }: Response): URLSearchParams | undefined => {
  const address = /<[^>]*\?([^>]*)>\s*;[^,]*\brel="?next"?/.exec(headers.get('link') ?? '')?.[1];
  return address === undefined ? undefined : new URLSearchParams(address);
};
