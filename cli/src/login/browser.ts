import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as client from 'openid-client';
import { Refusal } from '../command.js';
import { refuse, type Issuer } from './openId.js';

/** As long as a code of the sign-in is valid. */
const waitMs = 10 * 60_000;

/**
 * Signs in by this machine's browser: authorization code with PKCE, answered at a loopback port (RFC
 * 8252, section 7.3).
 * @param open - opens the address, or says where it is to be opened
 * @throws Refusal when it was refused, or nobody came back in time
 */
export const signInByBrowser = async (
  { configuration, parameters }: Issuer,
  open: (address: string) => Promise<void>,
  signal: AbortSignal,
): Promise<client.TokenEndpointResponse> => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const redirectUri = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/callback`;
  const [verifier, state] = [client.randomPKCECodeVerifier(), client.randomState()];
  const address = client.buildAuthorizationUrl(configuration, {
    ...parameters,
    redirect_uri: redirectUri,
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });

  const tooLate = AbortSignal.timeout(waitMs);
  try {
    const answered = new Promise<client.TokenEndpointResponse>((resolve, reject) => {
      let isTaken = false;
      server.on('request', ({ method, url = '' }, response) => {
        const answer = new URL(url, redirectUri);
        // Any page can send a browser here: what does not know the state neither ends nor spoils the sign-in.
        const isMine = method === 'GET' && answer.pathname === '/callback' && answer.searchParams.get('state') === state;
        if (!isMine || isTaken) {
          sendPage(response, 404, 'There is nothing here', 'Go back to the terminal.');
          return;
        }
        isTaken = true;
        client
          .authorizationCodeGrant(configuration, answer, {
            pkceCodeVerifier: verifier,
            expectedState: state,
          })
          .catch(refuse)
          .then(
            (tokens) => {
              response.on('close', () => {
                resolve(tokens);
              });
              sendPage(response, 200, 'You are signed in', 'You can close this page and go back to the terminal.');
            },
            (error: unknown) => {
              response.on('close', () => {
                reject(error instanceof Error ? error : new Error(String(error)));
              });
              sendPage(response, 400, 'Nobody was signed in', 'The terminal says why.');
            },
          );
      });
      const end = (error: Error) => (): void => {
        reject(error);
      };
      tooLate.addEventListener('abort', end(new Refusal('Nobody has signed in in time. Run the command again.')));
      signal.addEventListener('abort', end(new Refusal('The sign-in was interrupted.')));
    });
    // Until it is awaited, a refusal of it is nobody's.
    answered.catch(() => undefined);
    await open(address.href);
    return await answered;
  } finally {
    server.close();
    server.closeAllConnections();
  }
};

const sendPage = (response: ServerResponse, status: number, title: string, words: string): void => {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    // The address of this page holds the code.
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title} – Doorstep</title>
<style>body { font: 18px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto 0; padding: 0 24px; }</style>
<main><h1>${title}</h1><p>${words}</p></main>
</html>
`);
};
