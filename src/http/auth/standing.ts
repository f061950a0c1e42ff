import { throwIfRefused } from '../../commands/refusal.js';
import type { Engine } from '../../engine.js';
import type { IdentityProvider } from '../../integrations/identity/port.js';
import type { Reader } from '../../projections/reader.js';
import type { Exchange } from '../exchange.js';
import type { Route } from '../route.js';
import { createAuthenticate } from './authenticate.js';
import { authorise } from './authorise.js';
import type { Caller, WebsiteAccess } from './caller.js';
import { readOnlyRefusalFor } from './rules.js';
import { createViewAs } from './viewAs.js';
import type { KeyUse } from './keyUse.js';

/** Who calls, and their way to the website, as of one moment. */
export interface Standing {
  /** Reads as of that moment. */
  readonly reader: Reader;
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
  const authenticate = createAuthenticate(parts);
  const viewAs = createViewAs(parts);

  return async (exchange, route, params, checkParams) => {
    const now = parts.reader.sinceNow();
    const reader = noteStream === undefined ? now : noting(now, noteStream);
    if (route.access === 'public') {
      checkParams?.();
      return { reader };
    }
    const authenticated = await authenticate(
      reader,
      exchange.authorization,
      exchange.mode,
      exchange.request.headers['user-agent'],
    );
    exchange.caller = authenticated;
    checkParams?.();
    const caller = exchange.viewAs === undefined ? authenticated : await viewAs(reader, exchange, route, authenticated, params);
    exchange.caller = caller;
    throwIfRefused(readOnlyRefusalFor(route, caller));
    const website = await authorise(reader, route, caller, params);
    return { reader, caller, ...(website !== undefined && { website }) };
  };
};

const noting = (reader: Reader, note: (name: string) => void): Reader => ({
  ...reader,
  state: (fold, key) => {
    note(fold.stream.name(key));
    return reader.state(fold, key);
  },
  read: (projection, id) => {
    note(projection.stream(id));
    return reader.read(projection, id);
  },
});

/** What answers are made by: when it is another, what was begun with the old one ends. */
export const isSameStanding = (one: Standing, other: Standing): boolean => rightsOf(one) === rightsOf(other);

const rightsOf = ({ caller, website }: Standing): string =>
  JSON.stringify([caller?.subject, caller?.role, caller?.scope, caller?.clientId, website?.website.id, website?.standing]);
