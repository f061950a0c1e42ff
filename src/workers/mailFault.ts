import { redactAddress } from '../integrations/email/port.js';
import { ProviderFault } from '../integrations/fault.js';
import { faultOf } from './leasedTask.js';

/**
 * The error with the address removed from its message, because faults are recorded and logged.
 * @throws as `faultOf`
 */
export const withoutAddress = (error: unknown, address: string): ProviderFault => {
  const { error: words, transient, retryAfterMs } = faultOf(error);
  const redact = (text: string): string => redactAddress(address, text);
  const cause = new Error(redact(String(error)));
  return new ProviderFault({ provider: 'email', message: redact(words), transient, retryAfterMs, cause });
};
