import { bindClientSubject } from '../../commands/client/client.handlers.js';
import { consequenceOf } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import { clientBoundTo } from '../../events/client/client.directory.js';
import { clientFold } from '../../events/client/client.state.js';
import type { IdentityProvider } from '../../integrations/identity/port.js';
import type { RouteRequest } from '../route.js';

/**
 * Binds the subject of a client who signed in and is known by their address alone, with the first
 * change that they make: names, exports and audits find it by the subject, also after they have another
 * address. Not where an external issuer names subjects, which may come with another address later.
 */
export type BindSubject = (request: Pick<RouteRequest, 'caller' | 'context'>, engine: Engine) => Promise<void>;

export const createBindSubject =
  (identityProvider: IdentityProvider | null): BindSubject =>
  async (request, engine) => {
    const { clientId, subject, tokenId } = request.caller;
    if (clientId === undefined || tokenId !== undefined || identityProvider?.accountOf === undefined) return;
    if ((await clientBoundTo(engine, subject)) !== undefined) return;
    // The change may have been their erasure.
    if ((await engine.state(clientFold, { clientId })).state.stage !== 'registered') return;
    await bindClientSubject(engine, clientId, subject, consequenceOf(engine, request.context));
  };
