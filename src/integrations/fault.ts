/**
 * A fault of an integration in one form, whoever the provider is. `transient` (network, 429, 5xx, a time-out) is worth another
 * attempt; anything else fails for good.
 */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';
  readonly provider: string;
  readonly transient: boolean;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  /** `message` is in words for people and shown to operators: never a secret or an internal. */
  constructor(fault: { provider: string; message: string; transient: boolean; retryAfterMs?: number; cause?: unknown }) {
    super(fault.message, { cause: fault.cause });
    this.provider = fault.provider;
    this.transient = fault.transient;
    this.retryAfterMs = fault.retryAfterMs;
  }
}
