import type { IdentityProvider } from '../../src/integrations/identity/port.js';

/**
 * An identity provider that knows as whom people sign in, as the embedded one does.
 * @param addresses by subject, which is its access token as well
 */
export const accountsOf = (addresses: ReadonlyMap<string, string>): IdentityProvider => ({
  identify: (subject) => {
    const verifiedEmail = addresses.get(subject);
    return Promise.resolve(verifiedEmail === undefined ? null : { subject, role: 'client', verifiedEmail });
  },
  exists: () => Promise.resolve(true),
  accountOf: (address) => {
    const [subject = 'user-of-nobody'] = [...addresses].find(([, one]) => one === address) ?? [];
    return Promise.resolve({ subject, role: 'client' });
  },
  addressOf: (subject) => Promise.resolve(addresses.get(subject) ?? null),
});
