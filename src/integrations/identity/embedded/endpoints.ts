import express, { type RequestHandler, type Router } from 'express';
import { MethodNotAllowed } from '../../fault.js';

const reading = ['GET', 'HEAD'];

/** Those of oidc-provider, with the methods that each takes; `OPTIONS` where pages of other origins may ask. */
const ofProtocol: Readonly<Record<string, readonly string[]>> = {
  '/.well-known/openid-configuration': [...reading, 'OPTIONS'],
  '/.well-known/oauth-authorization-server': [...reading, 'OPTIONS'],
  '/jwks': [...reading, 'OPTIONS'],
  '/authorize': reading,
  '/authorize/:uid': reading,
  '/token': ['OPTIONS', 'POST'],
  '/revoke': ['OPTIONS', 'POST'],
  '/sign-out': reading,
  '/sign-out/confirm': ['POST'],
  '/sign-out/success': reading,
  '/device': [...reading, 'POST'],
  '/device/auth': ['OPTIONS', 'POST'],
  '/device/:uid': reading,
};

const ofPages: Readonly<Record<string, readonly string[]>> = {
  '/sign-in/:uid': [...reading, 'POST'],
  '/sign-in/:uid/code': [...reading, 'POST'],
  '/sign-in/:uid/link': [...reading, 'POST'],
};

/**
 * Lets `serve` answer what there is below the issuer's address, because oidc-provider answers anything
 * else with a text. What is not there goes to the next handler, as an error like any other.
 */
export const createEndpoints = (serve: RequestHandler): Router => {
  const take =
    (methods: readonly string[]): RequestHandler =>
    (request, response, next) => {
      const { method, headers } = request;
      const isPreflight = (headers['access-control-request-method'] ?? '') !== '';
      const allow = [...new Set([...methods, 'OPTIONS'])].sort().join(', ');
      if (methods.includes(method) && (method !== 'OPTIONS' || isPreflight)) serve(request, response, next);
      else if (method === 'OPTIONS') response.status(204).set('Allow', allow).end();
      else next(new MethodNotAllowed(allow));
    };

  // As oidc-provider does, which takes letters of any case, and a slash at the end.
  const protocol = express.Router();
  for (const [path, methods] of Object.entries(ofProtocol)) protocol.all(path, take(methods));
  const pages = express.Router({ caseSensitive: true, strict: true });
  for (const [path, methods] of Object.entries(ofPages)) pages.all(path, take(methods));
  return protocol.use(pages);
};
