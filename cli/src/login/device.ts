import * as client from 'openid-client';
import { Refusal } from '../command.js';
import { refuse, type Issuer } from './openId.js';

/**
 * Signs in by a code that is typed in on any device with a browser (RFC 8628).
 * @param announce - says where to open which address with which code
 * @throws Refusal when it was refused, or nobody came in time
 */
export const signInByDevice = async (
  { configuration, parameters }: Issuer,
  announce: (lines: readonly string[]) => void,
  signal: AbortSignal,
): Promise<client.TokenEndpointResponse> => {
  if (configuration.serverMetadata().device_authorization_endpoint === undefined) {
    throw new Refusal('The issuer has no sign-in by a code. Use --with-token, or sign in where a browser opens.');
  }
  const device = await client.initiateDeviceAuthorization(configuration, { ...parameters }).catch(refuse);
  const { user_code: code, verification_uri: address, verification_uri_complete: complete, expires_in: seconds } = device;
  announce([
    `Open ${address} in a browser, on any device, and type in the code ${code}`,
    ...(complete === undefined ? [] : [`or open ${complete} and compare the code.`]),
    `The code is valid for ${String(Math.round(seconds / 60))} minutes.`,
  ]);
  const expired = AbortSignal.timeout(seconds * 1_000);
  const waiting = AbortSignal.any([expired, signal]);
  for (;;) {
    try {
      return await client.pollDeviceAuthorizationGrant(configuration, device, undefined, { signal: waiting });
    } catch (error) {
      if (expired.aborted) throw new Refusal('Nobody has typed the code in in time. Run the command again for a new one.');
      // Such faults do not end the wait (section 3.5); the next question comes after the interval.
      if (isPassing(error) && !signal.aborted) continue;
      return refuse(error);
    }
  }
};

/** Of the network, or of an issuer that is busy. */
const isPassing = (error: unknown): boolean => {
  if (error instanceof TypeError) return true;
  if (!(error instanceof client.ClientError)) return false;
  const { cause } = error;
  return error.code === 'OAUTH_TIMEOUT' || (cause instanceof Response && (cause.status === 429 || cause.status >= 500));
};
