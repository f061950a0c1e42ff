import { Type } from 'typebox';
import type { Engine } from '../../engine.js';
import type { Reader } from '../../projections/reader.js';
import { recordViewing } from '../../commands/viewing/viewing.handlers.js';
import { Refused, refusals } from '../../commands/refusal.js';
import { httpErrors } from '../errors.js';
import type { Exchange } from '../exchange.js';
import type { Route } from '../route.js';
import { EmailAddress } from '../schemas.js';
import { textsValidator } from '../validation.js';
import type { Caller } from './caller.js';
import { personOfEmail, subjectOfEmail, type PersonParts } from './person.js';
import { canonicalAddress } from '../../platform/emailAddress.js';

/**
 * Whom the answer is for when an admin asks with `?as=`: the person of that address, as if they had
 * signed in. A new look is recorded for the audit before anything is read.
 *
 * @param viewer who asks
 * @throws Refused: 403 `Admin role required`, `Invalid query — as: …`
 */
export type ViewAs = (
  reader: Reader,
  exchange: Exchange,
  route: Route,
  viewer: Caller,
  params: Readonly<Record<string, string>>,
) => Promise<Caller>;

const validate = textsValidator(Type.Object({ as: EmailAddress() }));

export const createViewAs = (parts: Omit<PersonParts, 'reader'> & { readonly engine: Engine }): ViewAs => {
  const { engine } = parts;

  return async (reader, exchange, route, viewer, { id }) => {
    if (viewer.role !== 'admin') throw new Refused(refusals.adminRequired());
    const asked = { as: exchange.viewAs };
    const violations = validate(asked);
    if (violations.length > 0) throw httpErrors.invalid('query', violations);
    const email = canonicalAddress(String(asked.as));

    if (exchange.viewer === undefined) {
      const { path } = exchange.request;
      const websiteId = route.scope === 'website' ? id : undefined;
      const { encryptedSubject, subject, role, via, tokenId, program } = viewer;
      await recordViewing(
        engine,
        { email, path: /@|%40/.test(path) ? route.path : path, websiteId },
        {
          commandId: engine.ids.commandId(),
          actor: {
            subject: encryptedSubject ?? (await engine.personal.encryptSubject(subject)),
            role,
            via,
            ...(tokenId !== undefined && { tokenId }),
            ...(program !== undefined && { program }),
          },
          requestId: exchange.requestId,
        },
      );
      exchange.viewer = viewer;
    }

    const { role, clientId } = await personOfEmail({ ...parts, reader }, email);
    return {
      subject: await subjectOfEmail({ ...parts, reader }, email, clientId),
      role,
      via: viewer.via,
      // What the viewer's own token may not read, it may not read as somebody else either.
      scope: viewer.scope,
      verifiedEmail: email,
      ...(clientId !== undefined && { clientId }),
    };
  };
};
