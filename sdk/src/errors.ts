/** What the service said, as far as it said something. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

/**
 * Everything that this library throws, but for a mistake of the program: that is a `TypeError`, or what
 * the program threw. Branch on `status`; `code` tells refusals of one status apart.
 */
export class DoorstepError extends Error {
  static {
    this.prototype.name = 'DoorstepError';
  }

  /** Of the answer; `undefined` when there was none. */
  readonly status: number | undefined;
  /** What is wrong, for programs: `website_not_found`. */
  readonly code: string | undefined;
  /** Of the answer: parsed when it is JSON, else its text; `undefined` when it is empty. */
  readonly body: unknown;
  /** Names the request in the log of the service. */
  readonly requestId: string | undefined;
  readonly headers: Headers | undefined;

  constructor(message: string, answer?: Answer, options?: ErrorOptions) {
    super(message, options);
    this.status = answer?.status;
    this.code = textIn(answer?.body, 'code');
    this.body = answer?.body;
    this.requestId = answer?.headers.get('x-request-id') ?? undefined;
    this.headers = answer?.headers;
  }
}

/** 400: the request is refused as it is. */
export class BadRequestError extends DoorstepError {
  static {
    this.prototype.name = 'BadRequestError';
  }
}

/** 401: no token, one that is not valid, or a viewer at a route for editors. */
export class AuthenticationError extends DoorstepError {
  static {
    this.prototype.name = 'AuthenticationError';
  }
}

/** 403: the caller may not do this. */
export class PermissionError extends DoorstepError {
  static {
    this.prototype.name = 'PermissionError';
  }
}

/** 404. */
export class NotFoundError extends DoorstepError {
  static {
    this.prototype.name = 'NotFoundError';
  }

  /** What may have been meant: a slug that exists. */
  readonly suggestion: string | undefined;

  constructor(message: string, answer?: Answer, suggestion?: string) {
    super(message, answer);
    this.suggestion = suggestion;
  }
}

/** 429: too many requests, after the retries. */
export class RateLimitError extends DoorstepError {
  static {
    this.prototype.name = 'RateLimitError';
  }
}

/** 5xx, after the retries. Before a write is repeated by hand, look whether it took effect. */
export class ServerError extends DoorstepError {
  static {
    this.prototype.name = 'ServerError';
  }
}

/** No answer, or not all of one: the network failed. `cause` is what `fetch` threw. */
export class ConnectionError extends DoorstepError {
  static {
    this.prototype.name = 'ConnectionError';
  }
}

/** An attempt took longer than `timeoutMs`. */
export class TimeoutError extends DoorstepError {
  static {
    this.prototype.name = 'TimeoutError';
  }
}

/** The `signal` of the call was aborted. `cause` is its reason. */
export class AbortError extends DoorstepError {
  static {
    this.prototype.name = 'AbortError';
  }
}

const byStatus: Readonly<Record<number, new (message: string, answer: Answer) => DoorstepError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  429: RateLimitError,
};

/** The error for an answer that is none of success: its message is the service's own. */
export const errorFor = (response: Response, body: unknown): DoorstepError => {
  const { status, statusText, headers } = response;
  const Group = byStatus[status] ?? (status >= 500 ? ServerError : DoorstepError);
  const message = textIn(body, 'error') ?? `The service answered ${`${String(status)} ${statusText}`.trimEnd()}`;
  return new Group(message, { status, body, headers });
};

const textIn = (body: unknown, name: string): string | undefined => {
  const text: unknown = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  return typeof text === 'string' && text !== '' ? text : undefined;
};
