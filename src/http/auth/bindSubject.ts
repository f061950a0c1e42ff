import { bindClientSubject } from '../../commands/client/client.handlers.js';
import { consequenceOf } from '../../commands/handleCommand.js';
import type { Engine } from '../../engine.js';
import { clientSubjectFold } from '../../events/client/client.state.js';
import type { IdentityProvider } from '../../integrations/identity/port.js';
import type { RouteRequest } from '../route.js';

/**
 * Binds the subject of a client who signed in and is known by their address alone, before the first
 * thing that they do: names, exports and audits find it by the subject, also after they have another
 * address. Not where an external issuer names subjects, which may come with another address later.
 */
export type BindSubject = (request: Pick<RouteRequest, 'caller' | 'context' | 'reader'>, engine: Engine) => Promise<void>;

export const createBindSubject =
  (identityProvider: IdentityProvider | null): BindSubject =>
  async (request, engine) => {
    const { clientId, subject, tokenId } = request.caller;
    if (clientId === undefined || tokenId !== undefined || identityProvider?.accountOf === undefined) return;
    const { state } = await request.reader.state(clientSubjectFold, { subjectIndex: engine.blindIndex(subject) });
    if (state.clientId !== undefined) return;
    await bindClientSubject(engine, clientId, subject, consequenceOf(engine, request.context));
  };
