import type { IncomingMessage } from 'node:http';
import type { CommandContext, HandleOptions } from '../commands/handleCommand.js';
import type { Engine } from '../engine.js';
import type { Actor } from '../events/envelope.js';
import type { Caller, WebsiteAccess } from './auth/caller.js';
import type { Reader } from '../projections/reader.js';
import { SenderGone } from './body.js';
import type { Exchange } from './exchange.js';
import type { RepeatableCommand } from './idempotency.js';
import type { RouteRequest, Upload } from './route.js';

/** What was found out about a request before its handler is called. */
export interface HandlerInput {
  readonly params: Record<string, string>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
  /** The body as it was sent. */
  readonly raw: Uint8Array | undefined;
  readonly upload?: { readonly upload: Upload; readonly keep: () => void };
  readonly reader: Reader;
  /** As the answer is for: that of the exchange changes whenever the caller is let in anew. */
  readonly caller: Caller | undefined;
  readonly website: WebsiteAccess | undefined;
  /** The caller's subject as events hold it; with writes. */
  readonly actorSubject?: string;
  /** Of a command that is repeated; absent: a new one. */
  readonly repeated?: RepeatableCommand;
  readonly expectation?: HandleOptions;
}

const secretBytes = 64;

/** Headers that may be there once, by their names in lower case. */
export const headerOf =
  ({ headers }: IncomingMessage): RouteRequest['header'] =>
  (name) => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };

/** A request as routes see it. What most routes do not use is made on first use. */
export class HandlerRequest implements RouteRequest {
  readonly params: Record<string, string>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
  readonly expectation: HandleOptions;
  readonly reader: Reader;
  readonly #engine: Engine;
  readonly #exchange: Exchange;
  readonly #input: HandlerInput;
  #context: CommandContext | undefined;
  #secret: Uint8Array | undefined;
  #abort: AbortController | undefined;

  constructor(engine: Engine, exchange: Exchange, input: HandlerInput) {
    this.params = input.params;
    this.query = input.query;
    this.body = input.body;
    this.expectation = input.expectation ?? {};
    this.reader = input.reader;
    this.#engine = engine;
    this.#exchange = exchange;
    this.#input = input;
  }

  expecting(expectation: HandleOptions): HandlerRequest {
    return new HandlerRequest(this.#engine, this.#exchange, { ...this.#input, expectation });
  }

  get raw(): Uint8Array {
    const { raw } = this.#input;
    if (raw === undefined) throw new Error('the route takes no body');
    return raw;
  }

  get upload(): Upload {
    const { upload } = this.#input;
    if (upload === undefined) throw new Error('the route takes no file');
    return upload.upload;
  }

  readonly keepUpload = (): void => {
    this.#input.upload?.keep();
  };

  readonly header = (name: string): string | undefined => headerOf(this.#exchange.request)(name);

  readonly accepts = (types: readonly string[]): string | undefined => {
    const accepted = this.#exchange.request.accepts([...types]);
    return typeof accepted === 'string' ? accepted : undefined;
  };

  get caller(): Caller {
    const { caller } = this.#input;
    if (caller === undefined) throw new Error('the route is public: nobody is asked who they are');
    return caller;
  }

  get viewer(): Caller | undefined {
    return this.#exchange.viewer;
  }

  get website(): WebsiteAccess {
    const { website } = this.#input;
    if (website === undefined) throw new Error('the route is not about one website');
    return website;
  }

  get context(): CommandContext {
    this.#context ??= this.#makeContext();
    return this.#context;
  }

  get secret(): Uint8Array {
    this.#secret ??= this.#input.repeated?.secret ?? this.#engine.random.bytes(secretBytes);
    return this.#secret;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const { response } = this.#exchange;
      const abort = new AbortController();
      this.#abort = abort;
      const leave = (): void => {
        abort.abort(new SenderGone());
      };
      if (response.destroyed) leave();
      response.once('close', leave);
    }
    return this.#abort.signal;
  }

  /** As if the caller had gone. */
  abort(): void {
    this.#abort?.abort();
  }

  #makeContext(): CommandContext {
    const { repeated } = this.#input;
    return {
      commandId: repeated?.commandId ?? this.#engine.ids.commandId(),
      actor: this.#actor(),
      requestId: this.#exchange.requestId,
      ...(repeated?.isRepetition === true && { isRepetition: true }),
    };
  }

  #actor(): Actor {
    // Nobody is asked on a public route: what is written there is a signed webhook.
    if (this.#input.caller === undefined) return { subject: 'webhook', role: 'system', via: 'webhook' };
    const { role, via, tokenId, program } = this.caller;
    const { actorSubject: subject } = this.#input;
    if (subject === undefined) throw new Error('who only reads commands nothing');
    return { subject, role, via, ...(tokenId !== undefined && { tokenId }), ...(program !== undefined && { program }) };
  }
}
