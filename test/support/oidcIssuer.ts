import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';

/**
 * An OpenID Connect issuer on the loopback interface: discovery, keys, userinfo, and a SCIM service
 * for the same users.
 */
export interface TestIssuer {
  readonly url: string;
  readonly scimUrl: string;
  /** The requested paths, in order. */
  readonly asked: string[];
  /** While true, it answers everything with 500. */
  broken: boolean;
  /** While true, it answers with 500 where its keys are. */
  keysBroken: boolean;
  /** While true, it accepts requests and never answers. */
  silent: boolean;
  /** Whether the discovery document names a `userinfo` endpoint. */
  offersUserinfo: boolean;
  /** The bearer token that its SCIM service demands; `undefined`: none. */
  scimToken: string | undefined;
  /** How `userinfo` refuses a token that states scopes without `openid`; `undefined`: it answers. */
  userinfoWithoutOpenid: { readonly status: number; readonly error: string } | undefined;
  readonly deletedSubjects: Set<string>;
  readonly inactiveSubjects: Set<string>;
  /**
   * Signs a valid token, with overrides from `claims` and `header`; `undefined` removes a claim.
   */
  sign(
    claims?: JWTPayload,
    options?: { header?: Readonly<Record<string, string>>; key?: CryptoKey; now?: number },
  ): Promise<string>;
  /** Switches to a new key; with `keepOld` the old one stays published. */
  rotate(keepOld?: boolean): Promise<void>;
  stop(): Promise<void>;
}

export const audience = 'doorstep-tests';

export const startTestIssuer = async (): Promise<TestIssuer> => {
  let published: JWK[] = [];
  let current: { kid: string; privateKey: CryptoKey } | undefined;
  let keys = 0;

  const rotate = async (keepOld = false): Promise<void> => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    keys += 1;
    const kid = `key-${keys}`;
    published = [...(keepOld ? published : []), { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }];
    current = { kid, privateKey };
  };
  await rotate();

  const answerJson = (response: ServerResponse, value: unknown): void => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(value));
  };
  const refuse = (response: ServerResponse, status: number): void => {
    response.statusCode = status;
    response.end();
  };
  const claimsOf = (authorization = ''): { readonly sub: string; readonly scope?: string } => {
    const payload = authorization.split('.')[1] ?? '';
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as ReturnType<typeof claimsOf>;
  };

  const server = createServer((request, response) => {
    const path = request.url ?? '';
    issuer.asked.push(path);
    if (issuer.silent) return;
    if (issuer.broken || (issuer.keysBroken && path === '/keys')) {
      refuse(response, 500);
    } else if (path === '/.well-known/openid-configuration') {
      answerJson(response, {
        issuer: issuer.url,
        jwks_uri: `${issuer.url}/keys`,
        ...(issuer.offersUserinfo && { userinfo_endpoint: `${issuer.url}/userinfo` }),
      });
    } else if (path === '/keys') {
      answerJson(response, { keys: published });
    } else if (path === '/userinfo') {
      const { sub, scope } = claimsOf(request.headers.authorization);
      const { userinfoWithoutOpenid: refusal } = issuer;
      if (issuer.deletedSubjects.has(sub)) refuse(response, 401);
      else if (refusal !== undefined && scope?.split(' ').includes('openid') !== true) {
        response.statusCode = refusal.status;
        answerJson(response, { error: refusal.error });
      } else answerJson(response, { sub });
    } else if (path.startsWith('/scim/Users/')) {
      const id = decodeURIComponent(path.slice('/scim/Users/'.length));
      const { authorization } = request.headers;
      if (issuer.scimToken !== undefined && authorization !== `Bearer ${issuer.scimToken}`) refuse(response, 401);
      else if (issuer.deletedSubjects.has(id)) refuse(response, 404);
      else answerJson(response, { id, active: !issuer.inactiveSubjects.has(id) });
    } else {
      refuse(response, 404);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const issuer: TestIssuer = {
    url,
    scimUrl: `${url}/scim`,
    asked: [],
    broken: false,
    keysBroken: false,
    silent: false,
    offersUserinfo: true,
    scimToken: undefined,
    userinfoWithoutOpenid: undefined,
    deletedSubjects: new Set(),
    inactiveSubjects: new Set(),
    rotate,
    sign: async (claims = {}, { header = {}, key, now = Date.now() } = {}) => {
      if (current === undefined) throw new Error('the issuer has no key');
      const seconds = Math.floor(now / 1_000);
      const payload = { iss: url, aud: audience, sub: 'somebody', iat: seconds, exp: seconds + 600, ...claims };
      return new SignJWT(Object.fromEntries(Object.entries<unknown>(payload).filter(([, value]) => value !== undefined)))
        .setProtectedHeader({ alg: 'ES256', kid: current.kid, typ: 'JWT', ...header })
        .sign(key ?? current.privateKey);
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return issuer;
};
