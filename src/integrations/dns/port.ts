/**
 * The public DNS. Each resolves with what there is at a name now: nothing when the name does not exist.
 * May throw ProviderFault, transient (`integrations/fault.ts`).
 */
export interface Dns {
  /** The texts of TXT records, each put together from its parts. */
  texts(name: string): Promise<readonly string[]>;
  /** The names that a CNAME record leads to: lower case, without a dot at the end. */
  canonicalNames(name: string): Promise<readonly string[]>;
  /** IPv4 and IPv6 addresses, CNAME records followed. */
  addresses(name: string): Promise<readonly string[]>;
}
