import { refusalKinds } from '../commands/refusal.js';
import { httpRefusalKinds, statusOfRefusal } from './errors.js';
import { faultStatus, type FaultCode } from './faults.js';
import type { Route, RouteRefusalCode } from './route.js';
import { pathParamsOf } from './validation.js';

const kinds = { ...refusalKinds, ...httpRefusalKinds };

/** Every code that an answer may have. */
export const errorCodes: readonly string[] = [...Object.keys(kinds), ...Object.keys(faultStatus)].sort();

const statusOf = (code: RouteRefusalCode): number => statusOfRefusal[kinds[code]];

/**
 * Every code that the route can refuse with: what follows from its definition, and what it declares
 * itself.
 */
const refusalCodesOf = (route: Route): ReadonlySet<string> & ReadonlySet<RouteRefusalCode> =>
  new Set<RouteRefusalCode>([
    'malformed_request',
    'invalid_query',
    ...pathRefusals(route),
    ...callerRefusals(route),
    ...websiteRefusals(route),
    ...writeRefusals(route),
    ...(route.refusals ?? []),
  ]);

/** Every code that the route can answer with, faults included. */
export const errorCodesOf = (route: Route): ReadonlySet<RouteRefusalCode | FaultCode> =>
  new Set([...refusalCodesOf(route), ...faultCodesOf(route)]);

export const statusOfError = (code: RouteRefusalCode | FaultCode): number =>
  code in faultStatus ? faultStatus[code as FaultCode] : statusOf(code as RouteRefusalCode);

const faultCodesOf = ({ method, access, vital, asksProvider, faults = [] }: Route): readonly FaultCode[] => {
  const isWrite = method !== 'get';
  const usesStores = isWrite || access !== 'public';
  return [
    'internal_error',
    ...(vital === true ? [] : (['too_many_requests', 'rate_limit_exceeded', 'busy'] as const)),
    ...(usesStores ? storeFaults : []),
    ...(access === 'public' ? [] : (['identity_provider_unavailable'] as const)),
    ...(isWrite ? writeFaults : []),
    ...(isWrite && access !== 'public' ? (['still_running'] as const) : []),
    ...(asksProvider === true ? (['provider_refused', 'provider_timeout', 'provider_unavailable'] as const) : []),
    ...faults,
  ];
};

const storeFaults = [
  'event_store_unavailable',
  'read_models_unavailable',
  'read_models_exchanged',
  'list_behind',
  'stopping',
  'vault_locked',
] as const;

const writeFaults = [
  'request_timeout',
  'body_too_large',
  'content_encoding_not_supported',
  'storage_full',
  'outcome_unknown',
  'too_many_conflicts',
] as const;

const pathRefusals = (route: Route): readonly RouteRefusalCode[] =>
  Object.keys(pathParamsOf(route).properties).length > 0 ? ['invalid_path_params'] : [];

const callerRefusals = ({ access, method }: Route): readonly RouteRefusalCode[] => {
  if (access === 'public') return [];
  const notSignedIn = ['no_authorization_header', 'missing_token', 'invalid_token', 'stale_session'] as const;
  // A read can be asked for as somebody else (`?as=`).
  return access === 'admin' || method === 'get' ? [...notSignedIn, 'admin_required'] : notSignedIn;
};

const websiteRefusals = ({ scope, access, feature, method, whenArchived }: Route): readonly RouteRefusalCode[] => {
  if (scope === 'installation') return [];
  return [
    'website_not_found',
    ...(access === 'admin' ? [] : (['not_authorized_for_website'] as const)),
    ...(access === 'editors' ? (['editor_required'] as const) : []),
    ...(feature === undefined ? [] : (['feature_off'] as const)),
    ...(method === 'get' || whenArchived === 'allowed' ? [] : (['website_archived'] as const)),
  ];
};

const writeRefusals = ({ method, access, body, raw, upload, ifMatch }: Route): readonly RouteRefusalCode[] => {
  if (method === 'get') return [];
  return [
    ...(access === 'public' ? [] : (['read_only_token'] as const)),
    ...(body === undefined ? [] : (['body_required'] as const)),
    ...(raw === undefined && upload === undefined ? (['invalid_json'] as const) : []),
    ...(raw === undefined ? (['invalid_body'] as const) : []),
    ifMatch === 'honoured' ? 'stale' : 'if_match_not_supported',
    ...(access === 'public' ? [] : (['invalid_headers', 'idempotency_key_reused'] as const)),
  ];
};
