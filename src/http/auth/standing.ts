import { Refused, refusals } from '../../commands/refusal.js';
import type { Engine } from '../../engine.js';
import type { IdentityProvider } from '../../integrations/identity/port.js';
import type { Reader } from '../../projections/reader.js';
import type { Exchange } from '../exchange.js';
import type { Route } from '../route.js';
import { createAuthenticate } from './authenticate.js';
import { createAuthorise } from './authorise.js';
import type { Caller, WebsiteAccess } from './caller.js';
import { createViewAs } from './viewAs.js';
import type { KeyUse } from './keyUse.js';

/** Who calls, and their way to the website, as of one moment. */
export interface Standing {
  /** Absent on `public` routes. */
  readonly caller?: Caller;
  /** Present on routes about one website. */
  readonly website?: WebsiteAccess;
}

/**
 * Who a request comes from and whether they may, as of now: by validated reads, so that it is asked
 * again whenever time has passed since.
 * @param checkParams is called between the two, so that nobody learns more than they may
 * @throws Refused: 401, 403, `Website <id> not found`; IdentityUnavailable, EventStoreUnavailable:
 *   it could not be checked, so nobody is let in
 */
export type FindStanding = (
  exchange: Exchange,
  route: Route,
  params: Readonly<Record<string, string>>,
  checkParams?: () => void,
) => Promise<Standing>;

export interface StandingParts {
  readonly engine: Engine;
  readonly reader: Reader;
  /** `null`: nobody can sign in, only tokens work. */
  readonly identityProvider: IdentityProvider | null;
  readonly keyUse: KeyUse;
}

/** @param noteStream is told of every stream that a standing rests on */
export const createFindStanding = (parts: StandingParts, noteStream?: (name: string) => void): FindStanding => {
  const { engine, reader } = noteStream === undefined ? parts : noting(parts, noteStream);
  const authenticate = createAuthenticate({ ...parts, engine });
  const authorise = createAuthorise(reader);
  const viewAs = createViewAs({ ...parts, engine, reader });

  return async (exchange, route, params, checkParams) => {
    if (route.access === 'public') {
      checkParams?.();
      return {};
    }
    const authenticated = await authenticate(exchange.authorization, exchange.mode, exchange.request.headers['user-agent']);
    exchange.caller = authenticated;
    checkParams?.();
    const caller = exchange.viewAs === undefined ? authenticated : await viewAs(exchange, route, authenticated, params);
    exchange.caller = caller;
    if (caller.scope === 'read' && route.method !== 'get') throw new Refused(refusals.readOnlyToken());
    const website = await authorise(route, caller, params);
    return { caller, ...(website !== undefined && { website }) };
  };
};

const noting = ({ engine, reader }: StandingParts, note: (name: string) => void): Pick<StandingParts, 'engine' | 'reader'> => {
  const state: Reader['state'] = (fold, key) => {
    note(fold.stream.name(key));
    return engine.state(fold, key);
  };
  const read: Reader['read'] = (projection, id) => {
    note(projection.stream(id));
    return reader.read(projection, id);
  };
  return { engine: { ...engine, state }, reader: { ...reader, state, read } };
};

/** What answers are made by: when it is another, what was begun with the old one ends. */
export const isSameStanding = (one: Standing, other: Standing): boolean => rightsOf(one) === rightsOf(other);

const rightsOf = ({ caller, website }: Standing): string =>
  JSON.stringify([
    caller?.subject,
    caller?.role,
    caller?.scope,
    caller?.clientId,
    website?.website.id,
    website?.via,
    website?.role,
  ]);
