/** JSON as it is stored: no `undefined`, no bigint, no dates. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Who caused an event. */
export interface Actor {
  /**
   * The identity provider's subject; the name of the process (`provisioning`) when `via` is
   * `worker`, of the script (`mails:parked`) when it is `operator`.
   */
  readonly subject: string;
  readonly role: 'admin' | 'client' | 'system';
  /** Older events of operators’ scripts say `worker`. */
  readonly via: 'portal' | 'token' | 'mcp' | 'worker' | 'webhook' | 'operator';
  readonly tokenId?: string;
  /** The OAuth client of an assistant: a name, or the address of its metadata. */
  readonly program?: string;
}

export interface EventMetadata {
  /**
   * When it was decided, ISO 8601 UTC with milliseconds; never earlier than the previous event of
   * the stream.
   */
  readonly at: string;
  readonly actor: Actor;
  readonly requestId: string;
  /** The command that started the whole chain. */
  readonly correlationId: string;
  /** The command or event that directly caused this one. */
  readonly causationId: string;
}

/** A fact in the words of one area's catalogue: what deciders return and projections receive. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

/** A domain event as it was recorded, upcast to the current version of its type. */
export type Recorded<Event extends DomainEvent = DomainEvent> = Event & {
  readonly id: string;
  readonly stream: string;
  /** 0-based place in its stream. */
  readonly revision: bigint;
  /** Place in the whole log; later commits have higher positions. */
  readonly position: bigint;
  readonly metadata: EventMetadata;
};
