/**
 * A fault of an integration, in the same form for every provider. A `transient` fault (network,
 * 429, 5xx, timeout) is worth another attempt; any other is permanent.
 */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';
  readonly provider: string;
  readonly transient: boolean;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  /** `message` is shown to people: it holds no secret and no internals. */
  constructor(fault: { provider: string; message: string; transient: boolean; retryAfterMs?: number; cause?: unknown }) {
    super(fault.message, { cause: fault.cause });
    this.provider = fault.provider;
    this.transient = fault.transient;
    this.retryAfterMs = fault.retryAfterMs;
  }
}

/** What a template says cannot be used: a fault of the template, and not of the provider that keeps it. */
export class TemplateFault extends ProviderFault {}

/**
 * Fails as the provider would that is not asked any more: a website stays where it was made when
 * the settings change.
 * @throws ProviderFault when `needed` is at another provider than the one that is used
 */
export const requireProvider = ({
  used,
  needed: { provider },
}: Readonly<Record<'used' | 'needed', { readonly provider: string }>>): void => {
  if (provider === used.provider) return;
  throw new ProviderFault({ provider, message: 'The service is set up for another provider', transient: false });
};

/** A path that a handler of an integration serves does not take the method of the request. */
export class MethodNotAllowed extends Error {
  override readonly name = 'MethodNotAllowed';
  /** The methods that it takes, as in the header. */
  readonly allow: string;

  constructor(allow: string) {
    super(`the path takes ${allow}`);
    this.allow = allow;
  }
}
