import { clientFold } from '../../events/client/client.state.js';
import { customerFold } from '../../events/billing/customer.state.js';
import { personKeyOf } from '../../platform/personal.js';
import { accessDocumentId, accessProjection, type AccessDocument, type InvitationEntry } from '../access/access.projection.js';
import type { APIKeyDocument } from '../apiKey/apiKey.projection.js';
import type { AuditFilter } from '../audit/audit.queries.js';
import type { Accounts } from '../audit/subjects.queries.js';
import { erasureTargets, invitationsTo } from '../erasure/erasureTargets.queries.js';
import { everyDocument } from '../everyDocument.js';
import type { Reader } from '../reader.js';
import { websiteProjection } from '../website/website.projection.js';
import { readClient } from './client.queries.js';
import type { ClientDocument } from './client.projection.js';
import { clientSubjectProjection } from './clientSubject.projection.js';

/** What is kept about a client, personal data decrypted. */
export interface ClientRecord {
  readonly client: ClientDocument;
  /** Every address that they have, had, or asked for. */
  readonly addresses: readonly string[];
  readonly subjects: readonly string[];
  readonly websites: readonly {
    websiteId: string;
    name: string;
    slug: string;
    via: 'owner' | 'link';
    role: 'viewer' | 'editor';
  }[];
  readonly invitations: readonly {
    websiteId: string;
    id: string;
    kind: string;
    status: string;
    email: string;
    role?: string;
    createdAt: string;
    expiresAt: string;
  }[];
  readonly apiKeys: readonly APIKeyDocument[];
  readonly customers: readonly { provider: string; customerId: string }[];
  /** By which stored personal data is theirs (`personKeyOf`): an address may be somebody else's by now. */
  readonly personKeys: ReadonlySet<string>;
  /** Finds the events that name them, by the client's id or in personal data. */
  readonly about: AuditFilter;
  /** Finds the events that they caused. */
  readonly by: AuditFilter;
}

interface InvitationAt extends InvitationEntry {
  readonly websiteId: string;
}

const invitationsOf = ({ websiteId, invitations }: AccessDocument): readonly InvitationAt[] =>
  invitations.map((one) => ({ websiteId, ...one }));

/** Invitations of other client ids, to addresses that are the client's as well. */
const invitationsElsewhere = async (reader: Reader, addresses: readonly string[]): Promise<readonly InvitationAt[]> => {
  const found = await Promise.all(
    (await invitationsTo(reader, addresses)).map(({ key }) => reader.read(accessProjection, accessDocumentId(key))),
  );
  return found
    .flatMap(({ document }) => (document === null ? [] : invitationsOf(document)))
    .filter(({ email }) => addresses.includes(email));
};

/**
 * Everything that is kept about a client beside the events themselves; `null` when there is none, or
 * they were erased. Events are found by the keys that personal data is encrypted with, so that it
 * covers every stream without naming them.
 * @throws as `Reader.list`
 */
export const readClientRecord = async (
  reader: Reader,
  clientId: string,
  accounts: Accounts | null,
): Promise<ClientRecord | null> => {
  const { personal } = reader;
  const found = await readClient(reader, clientId);
  const { state } = await reader.state(clientFold, { clientId });
  if (found === null || state.stage !== 'registered') return null;

  const emails = [state.email, ...state.formerEmails];
  const asked = [...state.changes.values()].map(({ email }) => email);
  const { apiKeys, otherNames } = await erasureTargets(reader, clientId, emails);
  const [elsewhere, access, owned, subjects, customers] = await Promise.all([
    invitationsElsewhere(reader, otherNames.addresses),
    everyDocument(reader, accessProjection, { clientId }),
    everyDocument(reader, websiteProjection, { clientId }),
    everyDocument(reader, clientSubjectProjection, { clientId }),
    reader.state(customerFold, { clientId }),
  ]);
  const linked = await Promise.all(
    access
      .flatMap(({ websiteId, link }) => (link === undefined ? [] : [{ websiteId, role: link.role }]))
      .map(async (link) => ({
        ...link,
        website: (await reader.read(websiteProjection, link.websiteId)).document,
      })),
  );
  const invitations = [...access.flatMap(invitationsOf), ...elsewhere];
  const account = await accounts?.accountOf?.(found.client.email);
  const signedIn = account === undefined ? [] : [account.subject];
  const bound = [...subjects, ...apiKeys].map(({ subject }) => subject);
  const ownSubjects = [...new Set([...bound, ...otherNames.subjects, ...signedIn])];
  const addresses = [...new Set([...emails, ...asked, ...otherNames.addresses])];
  const theirs = [...addresses, ...ownSubjects, ...invitations.map(({ email }) => email)];
  const personKeys = new Set(theirs.map(personKeyOf).filter((key) => key !== undefined));

  return {
    client: found.client,
    addresses: await Promise.all(addresses.map((email) => personal.display(email))),
    subjects: await Promise.all(ownSubjects.map((subject) => personal.display(subject))),
    websites: [
      ...owned.map(({ id, name, slug }) => ({ websiteId: id, name, slug, via: 'owner' as const, role: 'editor' as const })),
      ...linked.map(({ websiteId, role, website }) => ({
        websiteId,
        name: website?.name ?? '',
        slug: website?.slug ?? '',
        via: 'link' as const,
        role,
      })),
    ],
    invitations: await Promise.all(
      invitations.map(async ({ websiteId, id, kind, status, email, role, createdAt, expiresAt }) => ({
        websiteId,
        id,
        kind,
        status,
        email: await personal.display(email),
        ...(role !== undefined && { role }),
        createdAt,
        expiresAt,
      })),
    ),
    apiKeys,
    customers: [...customers.state.customers].map(([provider, customerId]) => ({ provider, customerId })),
    personKeys,
    about: { people: [clientId, ...personKeys] },
    by: { actors: [...new Set([...ownSubjects, ...emails])] },
  };
};
