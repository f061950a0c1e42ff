import * as client from 'openid-client';
import { Refusal } from '../command.js';
import { reasonOf, type SignInPlace } from './discovery.js';

/** The public client that the embedded sign-in knows this program as. */
export const defaultClientId = 'doorstep-cli';

/** An issuer, and what is asked of it. */
export interface Issuer {
  readonly configuration: client.Configuration;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Reads the metadata of an issuer (OpenID Connect Discovery 1.0, else RFC 8414).
 * @throws Refusal
 */
export const findIssuer = async ({ url, issuer, audience }: SignInPlace, clientId: string): Promise<Issuer> => {
  const isLocal = new URL(issuer).protocol === 'http:' && isLoopback(new URL(issuer).hostname);
  const read = (algorithm: 'oidc' | 'oauth2'): Promise<client.Configuration> =>
    client.discovery(new URL(issuer), clientId, undefined, client.None(), {
      algorithm,
      // Of an issuer on this machine nothing passes a network.
      ...(isLocal && { execute: [client.allowInsecureRequests] }),
    });
  const scope = 'openid email profile';
  // As the portal asks (app/session.js). The service names no audience where the issuer is its own.
  const parameters = audience === undefined ? { scope, resource: url } : { scope, audience };
  try {
    return { configuration: await read('oidc'), parameters };
  } catch (first) {
    try {
      return { configuration: await read('oauth2'), parameters };
    } catch {
      throw new Refusal(`The issuer of tokens, ${issuer}, cannot be used: ${reasonOf(first)}`);
    }
  }
};

const isLoopback = (hostname: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);

/**
 * What an issuer refused, in its own words.
 * @throws Refusal in place of an error of the protocol; any other error as it is
 */
export const refuse = (error: unknown): never => {
  if (error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError) {
    if (error.error === 'access_denied') throw new Refusal('The sign-in was refused in the browser. Nobody is signed in.');
    throw new Refusal(`The issuer refuses: ${error.error_description ?? error.error}`);
  }
  if (error instanceof client.ClientError) throw new Refusal(`The sign-in failed: ${reasonOf(error)}`);
  throw error;
};

/**
 * Gives back what the sign-in left beside the token: nobody needs it any more.
 * @returns why that was not possible, or null
 */
export const endSignIn = async ({ configuration }: Issuer, refreshToken: string | undefined): Promise<string | null> => {
  if (refreshToken === undefined || configuration.serverMetadata().revocation_endpoint === undefined) return null;
  try {
    await client.tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' });
    return null;
  } catch (error) {
    return reasonOf(error);
  }
};
