import { refusals, type Refusal } from '../../commands/refusal.js';
import type { LiveKey } from '../../events/apiKey/apiKey.directory.js';
import type { IdentityProvider } from '../../integrations/identity/port.js';
import type { Caller } from './caller.js';

/**
 * Why somebody who was let in before, by a token or with an address of a file, is let in no more, as
 * far as the identity provider tells without an access token of theirs; `null`: they still are.
 * @param key of the token, when they come by one
 * @throws IdentityUnavailable
 */
export const goneRefusalFor = async (
  identityProvider: IdentityProvider | null,
  { subject, role, verifiedEmail }: Pick<Caller, 'subject' | 'role'> & { readonly verifiedEmail?: string | undefined },
  key?: LiveKey,
): Promise<Refusal | null> => {
  if (role === 'admin' && identityProvider?.isStillAdmin?.(subject, verifiedEmail) === false) return refusals.invalidToken();
  // An admin that the operator named need not be anybody whom the identity provider knows.
  const mintedVia = key?.root.mintedVia;
  const isAsked = role === 'client' || mintedVia === 'portal' || mintedVia === 'mcp';
  return isAsked && (await identityProvider?.subjectExists?.(subject)) === false ? refusals.staleSession() : null;
};
