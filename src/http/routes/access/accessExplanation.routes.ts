import { Type } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { clientEmailFold } from '../../../events/client/client.state.js';
import type { IdentityProvider } from '../../../integrations/identity/port.js';
import { canonicalAddress } from '../../../platform/emailAddress.js';
import { readAccess } from '../../../projections/access/access.queries.js';
import type { InvitationEntry } from '../../../projections/access/access.projection.js';
import { readClient } from '../../../projections/client/client.queries.js';
import { deliveryProjection } from '../../../projections/delivery/delivery.projection.js';
import type { Reader } from '../../../projections/reader.js';
import { accessOf } from '../../auth/authorise.js';
import { personOfEmail, personOfSubject, type Person } from '../../auth/person.js';
import { isWebsiteRule } from '../../auth/rules.js';
import { route, type Route } from '../../route.js';
import { EmailAddress } from '../../schemas.js';
import { accessTag, toInvitation } from './access.resource.js';
import { AccessExplanation, explainAreas, explainFields, standingInWords } from './accessExplanation.resource.js';

export interface AccessExplanationParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly identityProvider: IdentityProvider | null;
}

/**
 * What somebody may do at a website, explained by the rules and the list of routes that authorise.
 * @param allRoutes every route of the service, asked for once they are all there
 */
export const accessExplanationRoutes = (parts: AccessExplanationParts, allRoutes: () => readonly Route[]): readonly Route[] => {
  const { engine, reader } = parts;

  const findPerson = async (email: string | undefined, subject: string | undefined): Promise<Person> => {
    if (email !== undefined && subject !== undefined)
      throw new Refused(refusals.invalidQuery('subject', 'leave it out beside email'));
    if (email !== undefined) return personOfEmail(parts, canonicalAddress(email));
    if (subject === undefined) throw new Refused(refusals.invalidQuery('email', 'is required, or subject'));
    return personOfSubject(parts, subject);
  };

  /** Of the client, or else of the address, which is nobody's yet. */
  const openInvitations = async (websiteId: string, person: Person): Promise<readonly InvitationEntry[]> => {
    const { clientId = await clientIdOfInvited(person) } = person;
    if (clientId === undefined) return [];
    const { invitations } = await readAccess(reader, { websiteId, clientId });
    return invitations.filter(({ status }) => status === 'pending');
  };

  const clientIdOfInvited = async ({ verifiedEmail }: Person): Promise<string | undefined> =>
    verifiedEmail === undefined
      ? undefined
      : (await engine.state(clientEmailFold, { emailIndex: engine.blindIndex(verifiedEmail) })).state.clientId;

  return [
    route({
      method: 'get',
      path: '/websites/:id/access',
      operationId: 'explainAccess',
      summary: 'Explain what somebody may see and do at a website, and by which rule',
      description:
        'Name the person by `email` or by `subject`. Every operation of the website is listed with whether the service lets them and why, by the rules that it lets callers in by, as of now. It is about somebody who is signed in, or whose token may write; a read-only token reads alone.',
      tag: accessTag,
      scope: 'website',
      access: 'admin',
      query: Type.Object({
        email: Type.Optional(EmailAddress({ description: 'As the identity provider vouches for it.' })),
        subject: Type.Optional(
          Type.String({ minLength: 1, maxLength: 255, description: 'Who it is, at the identity provider. Without `email`.' }),
        ),
      }),
      example: { query: { email: 'editor@example.com' } },
      answers: { 200: { description: 'The explanation, as of now.', schema: AccessExplanation } },
      answer: async ({ params: { id: websiteId }, query: { email, subject } }) => {
        const person = await findPerson(email, subject);
        const { website, standing } = await accessOf(reader, person, websiteId);
        const { role, roleFrom, verifiedEmail, clientId } = person;
        const [client, invitations, { document: delivery }] = await Promise.all([
          clientId === undefined ? null : readClient(reader, clientId),
          openInvitations(websiteId, person),
          reader.read(deliveryProjection, websiteId),
        ]);
        const routes = allRoutes().filter((one) => one.scope === 'website' && isWebsiteRule(one.access) && one.hidden !== true);
        const isOffered = invitations.some(({ kind }) => kind === 'ownership_transfer');
        const areas = explainAreas(routes, standing, website, isOffered);
        const facts = {
          showPreviewUrl: delivery?.showPreviewUrl,
          isRepositoryHere: website.repository === undefined || website.repository.provider === 'embedded',
        };
        const knownEmail = verifiedEmail ?? client?.client.email;
        return {
          body: {
            websiteId,
            person: {
              ...(subject !== undefined && { subject }),
              ...(knownEmail !== undefined && { email: knownEmail }),
              ...(clientId !== undefined && { clientId }),
              ...(client?.client.name !== undefined && { name: client.client.name }),
              role,
              roleFrom,
              standing,
              why: standingInWords(standing, person, invitations.length > 0),
            },
            invitations: await Promise.all(invitations.map((entry) => toInvitation(engine, websiteId, entry))),
            areas,
            fields: explainFields(areas, standing, facts),
          },
        };
      },
    }),
  ];
};
