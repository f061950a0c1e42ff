import { Type, type Static } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { InvitationKind, LinkRole } from '../../../events/access/access.events.js';
import type { Outbox } from '../../../integrations/email/port.js';
import type { IdentityProvider } from '../../../integrations/identity/port.js';
import type { InvoicePlace, Ledger, Payments } from '../../../integrations/payments/port.js';
import { personKeyOf } from '../../../platform/personal.js';
import { isoTime } from '../../../platform/clock.js';
import type { AuditFilter } from '../../../projections/audit/audit.queries.js';
import { readClientRecord, type ClientRecord } from '../../../projections/client/clientExport.queries.js';
import type { Reader } from '../../../projections/reader.js';
import type { KeyUse } from '../../auth/keyUse.js';
import { PersonalAddress } from '../../personalFields.js';
import { route, type Route } from '../../route.js';
import { APIKey, toUsedApiKey } from '../apiKey/apiKey.resource.js';
import { AuditEntry } from '../audit/audit.resource.js';
import { createAuditPages, type AuditPages } from '../audit/auditPages.js';
import { Invoice } from '../billing/billing.resource.js';
import { Client, clientTag } from './client.resource.js';

const Time = Type.String({ format: 'date-time' });

/** Everything that is kept about one person. */
const ClientExport = Type.Object(
  {
    exportedAt: Type.String({ format: 'date-time', description: 'When the export began.' }),
    client: Client,
    addresses: Type.Array(PersonalAddress, {
      description: 'Every address that they have, had, or asked for.',
      examples: [['ada@example.com']],
    }),
    subjects: Type.Array(Type.String(), {
      description: 'Who they are at the identity provider.',
      examples: [['ada@example.com']],
    }),
    websites: Type.Array(
      Type.Object({
        websiteId: Type.String(),
        name: Type.String(),
        slug: Type.String(),
        via: Type.Enum(['owner', 'link']),
        role: LinkRole,
      }),
      { description: 'What they own or are linked to.' },
    ),
    invitations: Type.Array(
      Type.Object({
        id: Type.String(),
        websiteId: Type.String(),
        kind: InvitationKind,
        status: Type.String({
          description: 'As recorded: one that has expired is still `pending`.',
          examples: ['accepted'],
        }),
        email: PersonalAddress,
        role: Type.Optional(LinkRole),
        createdAt: Time,
        expiresAt: Time,
      }),
      { description: 'Invitations and transfers that they were sent, the accepted and revoked ones too.' },
    ),
    apiKeys: Type.Array(APIKey, { description: 'Their live keys, without the tokens.' }),
    customers: Type.Array(
      Type.Object({
        provider: Type.String(),
        customerId: Type.String({ description: 'As the provider names them.', examples: ['cus_4711'] }),
      }),
      {
        description: 'Which customer of a payment provider they are: it keeps their invoices.',
      },
    ),
    invoices: Type.Array(Invoice, {
      description:
        'Of the embedded ledger, to them: the newest first. Those of another payment provider are with their customer.',
    }),
    mails: Type.Array(
      Type.Object({
        id: Type.String(),
        to: { ...PersonalAddress, description: 'Whom it is to.' },
        subject: Type.String({ description: 'What it is about.', examples: ['You are invited to Corner Bakery'] }),
        at: Time,
      }),
      { description: 'Mails to them that the embedded e-mail sender stores, without their texts: codes in these sign in.' },
    ),
    eventsAbout: Type.Array(AuditEntry, { description: 'Every change that names them, newest first.' }),
    eventsBy: Type.Array(AuditEntry, { description: 'Every change that they made, newest first.' }),
  },
  { $id: 'ClientExport', description: 'Everything that is kept about one person.' },
);
type Head = Omit<Static<typeof ClientExport>, 'eventsAbout' | 'eventsBy'>;

interface ClientExportParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly baseUrl: () => string;
  readonly keyUse: KeyUse;
  readonly identityProvider: IdentityProvider | null;
  readonly payments: Payments;
  /** Present with the embedded ledger. */
  readonly ledger?: Ledger;
  readonly outbox?: Outbox;
}

/** `GET /clients/:id/export` (api.md, section 4). */
export const clientExportRoutes = (parts: ClientExportParts): readonly Route[] => {
  const { engine, reader, baseUrl, keyUse, identityProvider } = parts;
  const pages = createAuditPages({ engine, reader, baseUrl });

  return [
    route({
      method: 'get',
      path: '/clients/:id/export',
      operationId: 'exportClient',
      summary: 'Export everything that is kept about a client, as one JSON document',
      description:
        'Their profile, access, invitations, keys, mails, and every event of the log that names them or that they caused. It is sent in parts: when the connection is cut, what came is not the whole.',
      tag: clientTag,
      scope: 'installation',
      access: 'admin',
      refusals: ['client_not_found'],
      answers: { 200: { description: 'Everything about the person.', schema: ClientExport, inParts: true } },
      answer: async ({ params: { id } }) => {
        const found = await readClientRecord(reader, id, identityProvider);
        if (found === null) throw new Refused(refusals.clientNotFound(id));
        const { about, by, personKeys: _, ...record } = found;
        const head: Head = {
          exportedAt: isoTime(engine.clock.now()),
          ...record,
          websites: [...record.websites],
          invitations: [...record.invitations] as Head['invitations'],
          addresses: [...record.addresses],
          subjects: [...record.subjects],
          customers: [...record.customers],
          apiKeys: await Promise.all(record.apiKeys.map((key) => toUsedApiKey(key, keyUse))),
          invoices: parts.ledger === undefined ? [] : await invoicesTo(id, parts.payments),
          mails: await mailsTo(found, parts.outbox),
        };
        return {
          parts: documentOf(head, await pages.all(about, {}), (subjects) => eventsBy(reader, pages, by, subjects)),
          headers: {
            'content-type': 'application/json; charset=utf-8',
            'content-disposition': `attachment; filename="client-${id.replaceAll(/\W/g, '_')}.json"`,
          },
        };
      },
    }),
  ];
};

/** What they caused, also with keys that are revoked, of which only the events tell the subject. */
const eventsBy = async (
  { personal }: Reader,
  pages: AuditPages,
  { actors = [] }: ClientRecord['by'],
  subjects: readonly string[],
): Promise<AsyncIterable<readonly AuditEntry[]>> => {
  const stored = await Promise.all(subjects.map((subject) => personal.encryptSubject(subject, { makeKey: false })));
  const filter: AuditFilter = { actors: [...new Set([...actors, ...stored])] };
  return pages.all(filter, {});
};

type AllEntries = AsyncIterable<readonly AuditEntry[]>;

/** The document, a page of events at a time. */
async function* documentOf(
  head: Head,
  about: AllEntries,
  findBy: (subjects: readonly string[]) => Promise<AllEntries>,
): AsyncGenerator<string, void> {
  const subjects = new Set<string>();
  yield `${JSON.stringify(head).slice(0, -1)},"eventsAbout":[`;
  yield* joined(about, ({ type, data: { subject } }) => {
    if (type === 'APIKeyMinted' && typeof subject === 'string') subjects.add(subject);
  });
  yield '],"eventsBy":[';
  yield* joined(await findBy([...subjects]));
  yield ']}\n';
}

async function* joined(pages: AllEntries, see: (entry: AuditEntry) => void = () => undefined): AsyncGenerator<string, void> {
  let separator = '';
  for await (const entries of pages) {
    entries.forEach(see);
    yield separator + entries.map((entry) => JSON.stringify(entry)).join(',');
    separator = ',';
  }
}

const invoicesPage = 200;

const invoicesTo = async (clientId: string, payments: Payments): Promise<Head['invoices']> => {
  const found: Head['invoices'] = [];
  const query = { clientId, sort: '-createdAt', limit: invoicesPage, subscriptions: () => Promise.resolve([]) } as const;
  for (let after: InvoicePlace | undefined; ;) {
    const { items, next } = await payments.listInvoices({ ...query, ...(after !== undefined && { after }) });
    found.push(...items);
    if (next === undefined) return found;
    after = next;
  }
};

const mailsPage = 200;

/** Of one that says of nobody whose it is, such as a code to sign in, their present address alone says it. */
const mailsTo = async ({ client, addresses, personKeys }: ClientRecord, outbox: Outbox | undefined): Promise<Head['mails']> => {
  const found: Head['mails'] = [];
  for (const to of outbox === undefined ? [] : addresses) {
    const isFor = (person = ''): boolean => {
      const key = personKeyOf(person);
      return key === undefined ? to === client.email : personKeys.has(key);
    };
    for (let after: string | undefined; ;) {
      const page = (await outbox?.list({ to, isFor, limit: mailsPage, ...(after !== undefined && { after }) })) ?? [];
      found.push(...page.map(({ id, to: recipient, subject, at }) => ({ id, to: recipient, subject, at })));
      if (page.length < mailsPage) break;
      after = page.at(-1)?.id;
    }
  }
  return found;
};
