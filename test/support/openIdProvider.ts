import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/**
 * An OpenID Connect issuer on the loopback interface where people sign in with any name, as an
 * organisation would have one beside the service: code and device flows for the public client
 * `acme-cli`, and for browsers `acme-portal`.
 */
export interface OpenIdProvider {
  readonly url: string;
  stop(): Promise<void>;
}

/** @param audience - of its access tokens */
export const startOpenIdProvider = async (audience: string): Promise<OpenIdProvider> => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const claimsOf = (subject: string): object => ({ email: `${subject}@acme.example`, email_verified: true, role: 'admin' });
  const provider = new Provider(url, {
    clients: [
      {
        client_id: 'acme-cli',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
        response_types: ['code'],
        redirect_uris: ['http://127.0.0.1/callback'],
      },
      {
        client_id: 'acme-portal',
        // On any port.
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['http://127.0.0.1/app/callback'],
        post_logout_redirect_uris: ['http://127.0.0.1/app/'],
      },
    ],
    clientAuthMethods: ['none'],
    clientBasedCORS: () => true,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['role'] },
    findAccount: (_context, subject) => ({ accountId: subject, claims: () => ({ sub: subject, ...claimsOf(subject) }) }),
    extraTokenClaims: (_context, token) => ('accountId' in token ? { ...claimsOf(token.accountId) } : undefined),
    // It knows no resource indicators, but the parameter that others have instead.
    extraParams: ['audience'],
    features: {
      devInteractions: { enabled: true },
      deviceFlow: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: ({ oidc }) => {
          if (oidc.params?.resource !== undefined) throw new Error('it was asked for a resource');
          return `urn:${audience}`;
        },
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: 'api', audience, accessTokenFormat: 'jwt', accessTokenTTL: 600 }),
      },
    },
  });
  const handle = provider.callback();
  server.on('request', (request, response) => {
    void handle(request, response);
  });
  return {
    url,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
