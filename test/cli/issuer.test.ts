import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findIssuer } from '../../cli/src/login/openId.js';

let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const issuer = url + String(request.url).replace('/.well-known/openid-configuration', '');
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
      }),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

test('the service’s own issuer is asked for a token for its address', async () => {
  const { parameters } = await findIssuer({ url, issuer: `${url}/oidc` }, 'doorstep-cli');
  expect(parameters).toEqual({ scope: 'openid email profile', resource: url });
});

test('an issuer elsewhere is asked for the audience, also below the same address', async () => {
  const { parameters } = await findIssuer({ url, issuer: `${url}/auth/realms/agency`, audience: 'doorstep' }, 'doorstep-cli');
  expect(parameters).toEqual({ scope: 'openid email profile', audience: 'doorstep' });
});
