import { Type } from 'typebox';
import { domainDecider } from '../../../commands/domain/domain.decider.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import type { DomainRecord } from '../../../events/domain/domain.events.js';
import { domainFold, isDomainOf } from '../../../events/domain/domain.state.js';
import type { Dns } from '../../../integrations/dns/port.js';
import { ProviderFault } from '../../../integrations/fault.js';
import { bringDomain } from '../../../integrations/hostedDomain.js';
import type { DomainTargets, Hosting, HostedDomain } from '../../../integrations/hosting/port.js';
import { canonicalHostname } from '../../../platform/hostname.js';
import type { DomainDocument } from '../../../projections/domain/domain.projection.js';
import { domainOf, domainsOf, isVerifiedDomain } from '../../../projections/domain/domain.queries.js';
import type { Reader } from '../../../projections/reader.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { pageOf, readNamed, totalOf } from '../../paging.js';
import { noContent, route, type Answer, type Route, type RouteTag } from '../../route.js';
import { addressRecords, checkRecords, ownershipRecord, withFound } from './domain.records.js';
import { Domain, toDomain } from './domain.resource.js';

const domainTag: RouteTag = { name: 'Domains', description: 'Hostnames of the websites’ own.' };

export interface DomainRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly dns: Dns;
  readonly hosting: Hosting;
  readonly domainTargets: DomainTargets;
  readonly isOwnHostname: (hostname: string) => boolean;
}

const params = { domain: Type.String({ minLength: 1, maxLength: 300 }) };

/** What the caller names. @throws Refused: no website has such a domain */
const domainIn = (text: string): string => {
  const domain = canonicalHostname(text);
  if (domain === null) throw new Refused(refusals.domainNotFound());
  return domain;
};

/** Hostnames with commas between, in the form in which they are kept: lower case, without a dot at the end. */
const canonicalIn = (ids: string | undefined): { readonly ids?: string } =>
  ids === undefined
    ? {}
    : {
        ids: ids
          .split(',')
          .map((text) => canonicalHostname(text) ?? text)
          .join(),
      };

/** The place of a domain in the list: by when it was added. */
const placeOf = ({ createdAt, domain }: DomainDocument): string => `${createdAt.replaceAll(/\D/g, '')}-${domain}`;

/** The domains of a website, and the question of a proxy which domains there are. */
export const domainRoutes = (parts: DomainRouteParts): readonly Route[] => {
  const { engine, reader, dns, hosting, domainTargets, isOwnHostname } = parts;

  /** @param hosted how the domain stands at the hosting provider, which may ask for records of its own */
  const recordsOf = (website: WebsiteDocument, domain: string, hosted?: HostedDomain): readonly DomainRecord[] => {
    const asked = (hosted?.records ?? []).map((record) => ({ ...record, found: false }));
    const isPlaceNamed = asked.some(({ purpose }) => purpose === 'address');
    return [
      ownershipRecord(engine.blindIndex, { websiteId: website.id, domain }),
      ...(isPlaceNamed ? [] : addressRecords(domain, domainTargets(website))),
      ...asked,
    ];
  };

  /** The website's project, when the hosting provider of today has it. */
  const projectOf = ({ hosting: own }: WebsiteDocument): string | undefined =>
    own?.provider === hosting.provider ? own.projectId : undefined;

  /** What the hosting provider says; `problem` when it cannot be asked. */
  const askHosting = async <Said>(
    website: WebsiteDocument,
    ask: (projectId: string) => Promise<Said>,
  ): Promise<{ readonly said?: Said; readonly problem?: string }> => {
    const projectId = projectOf(website);
    if (projectId === undefined) return {};
    try {
      return { said: await ask(projectId) };
    } catch (error) {
      if (!(error instanceof ProviderFault)) throw error;
      return { problem: error.message };
    }
  };

  const toAnswer = async (website: WebsiteDocument, domain: string, through?: bigint, problem?: string): Promise<Answer> => {
    const found = await domainOf(reader, { websiteId: website.id, domain }, through);
    if (found === null) throw new Refused(refusals.domainNotFound());
    const { document, revision } = found;
    return { body: toDomain(document, recordsOf(website, domain), problem), revision };
  };

  /** @throws Refused when a website cannot have it */
  const domainFor = (text: string): string => {
    const refuse = (issue: string): never => {
      throw new Refused(refusals.invalidBody('domain', issue));
    };
    const domain = canonicalHostname(text) ?? refuse('must be a hostname such as www.example.com, without scheme, port or path');
    return isOwnHostname(domain) ? refuse('is the service’s own') : domain;
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/domains',
      operationId: 'listDomains',
      summary: 'List the domains of a website, or read some by their hostnames',
      description:
        'Each with the records that are to be set in DNS, and which of them the last check found. `ids` are hostnames, those of other scripts as they are answered (`xn--…`).',
      tag: domainTag,
      scope: 'website',
      access: 'members',
      paging: { count: true, ids: true },
      answers: { 200: { description: 'A page of domains, the newest first.', schema: Type.Array(Domain) } },
      answer: async ({ params: { id }, query, website: { website } }) => {
        const shown = (document: DomainDocument) => toDomain(document, recordsOf(website, document.domain));
        const named = await readNamed(
          { ...query, ...canonicalIn(query.ids) },
          async (domain) => (await domainOf(reader, { websiteId: id, domain }))?.document ?? null,
        );
        if (named !== null) return { body: named.map(shown), total: await totalOf(query, () => named.length) };
        const domains = (await domainsOf(reader, id)).map((document) => ({ id: placeOf(document), document }));
        const { items, next } = await pageOf(query, domains);
        return {
          body: items.map(({ document }) => shown(document)),
          next,
          total: await totalOf(query, () => domains.length),
        };
      },
    }),

    route({
      method: 'get',
      path: '/websites/:id/domains/:domain',
      operationId: 'getDomain',
      summary: 'Read a domain of a website',
      description: 'As the last check left it; DNS is not asked.',
      tag: domainTag,
      scope: 'website',
      access: 'members',
      params,
      refusals: ['domain_not_found'],
      answers: { 200: { description: 'The domain.', schema: Domain } },
      answer: ({ params: { domain }, website: { website } }) => toAnswer(website, domainIn(domain)),
    }),

    route({
      method: 'post',
      path: '/websites/:id/domains',
      operationId: 'addDomain',
      summary: 'Add a domain to a website',
      description:
        'Set the records of the answer in DNS, then verify the domain. Until it is verified it is kept for the website for 7 days, and nothing is served there (at Vercel, Vercel decides). Another website that has not verified it loses it to the one whose ownership record is in DNS.',
      tag: domainTag,
      example: { body: { domain: 'www.corner-bakery.example' } },
      scope: 'website',
      access: 'admin',
      body: Type.Object({
        domain: Type.String({
          minLength: 1,
          maxLength: 300,
          description: 'A hostname, in any case and script. Unique among all websites.',
          examples: ['www.corner-bakery.example'],
        }),
      }),
      refusals: ['domain_taken', 'too_many_domains', 'domain_not_found'],
      answers: {
        201: { description: 'The domain, to be verified.', schema: Domain },
        200: { description: 'The website has it already.', schema: Domain },
      },
      act: async ({ params: { id: websiteId }, body, context }, acting) => {
        const domain = domainFor(body.domain);
        const proof = ownershipRecord(engine.blindIndex, { websiteId, domain });
        const kept = (await domainsOf(reader, websiteId)).length;
        const add = (found: boolean) =>
          acting.handle(domainDecider, { type: 'AddDomain', websiteId, domain, kept, proof: { ...proof, found } }, context);
        try {
          const { events, revision } = await add(false);
          return { domain, revision, isNew: events.length > 0 };
        } catch (error) {
          // Only then DNS is asked: somebody else has the domain, and may not have proved it.
          if (!(error instanceof Refused) || error.refusal.code !== 'domain_taken') throw error;
          const { records } = await checkRecords(dns, [proof]);
          if (records[0]?.found !== true) throw error;
          const { revision } = await add(true);
          return { domain, revision, isNew: true };
        }
      },
      answer: async ({ params: { id }, website: { website } }, { domain, revision, isNew }) => ({
        ...(await toAnswer(website, domain, revision)),
        ...(isNew && { status: 201, location: `/websites/${id}/domains/${domain}` }),
      }),
    }),

    route({
      method: 'post',
      path: '/websites/:id/domains/:domain/verify',
      operationId: 'verifyDomain',
      summary: 'Look for the records of a domain in DNS',
      description:
        'Asks DNS, for 3 s at most, and the hosting provider. With the ownership record there the domain is verified, and the website is served there. `problem` says what went wrong: when DNS did not answer, nothing is changed. A verified domain stays verified, whatever a later check finds.',
      tag: domainTag,
      scope: 'website',
      access: 'admin',
      params,
      refusals: ['domain_not_found'],
      answers: { 200: { description: 'The domain, and what was found.', schema: Domain } },
      act: async ({ params: { id: websiteId, domain: name }, website: { website }, context }, acting) => {
        const domain = domainIn(name);
        const stored = await domainOf(reader, { websiteId, domain });
        if (stored === null) throw new Refused(refusals.domainNotFound());
        const { records: known } = stored.document;
        const hosted = await askHosting(website, (projectId) => hosting.findDomain(projectId, domain));
        // A provider that does not answer asks for what it asked for before.
        const wanted = (hosted.problem === undefined ? undefined : known) ?? recordsOf(website, domain, hosted.said);
        const checked = await checkRecords(dns, withFound(wanted, known));
        const { records, problem = hosted.problem } = checked;
        const isProved = records.some(({ purpose, found }) => purpose === 'ownership' && found);
        if (problem !== undefined && !isProved) return { domain, problem };
        const check = { type: 'RecordDomainCheck', websiteId, domain, records } as const;
        const { revision } = await acting.handle(domainDecider, check, context);
        return { domain, revision, problem };
      },
      answer: async ({ website: { website } }, { domain, revision, problem }) => {
        // A worker does it as well; here the admin learns what the provider says.
        const isTheirs = async () => isDomainOf((await engine.state(domainFold, { domain })).state, website.id);
        const brought = await askHosting(website, (projectId) => bringDomain(hosting, { projectId, domain }, isTheirs));
        // Removed during the check.
        if (brought.said === false) throw new Refused(refusals.domainNotFound());
        return toAnswer(website, domain, revision, problem ?? brought.problem);
      },
    }),

    route({
      method: 'delete',
      path: '/websites/:id/domains/:domain',
      operationId: 'removeDomain',
      summary: 'Take a domain away from a website',
      description: 'From then on nothing is served there, and any website may have it.',
      tag: domainTag,
      scope: 'website',
      access: 'admin',
      params,
      refusals: ['domain_not_found'],
      answers: { 204: { description: 'It is gone.' } },
      act: ({ params: { id: websiteId, domain }, context }, acting) =>
        acting.handle(domainDecider, { type: 'RemoveDomain', websiteId, domain: domainIn(domain), reason: 'deleted' }, context, {
          ifNothing: refusals.domainNotFound(),
        }),
      answer: noContent,
    }),

    route({
      method: 'get',
      path: '/tls/ask',
      operationId: 'askForCertificate',
      summary: 'Ask whether a hostname is a verified domain',
      description:
        'For a proxy that gets certificates on demand, such as Caddy (`on_demand_tls`): it gets one for a 200, and none for anything else. It does not say whose the domain is.',
      tag: domainTag,
      scope: 'installation',
      access: 'public',
      query: Type.Object({
        domain: Type.String({
          minLength: 1,
          maxLength: 300,
          description: 'The hostname.',
          examples: ['www.corner-bakery.example'],
        }),
      }),
      refusals: ['domain_not_found'],
      faults: ['event_store_unavailable', 'stopping'],
      answers: {
        200: {
          description: 'It is one.',
          schema: Type.Object({ domain: Type.String({ description: 'The hostname.', examples: ['www.corner-bakery.example'] }) }),
        },
      },
      answer: async ({ query }) => {
        const domain = domainIn(query.domain);
        if (!(await isVerifiedDomain(reader, domain))) throw new Refused(refusals.domainNotFound());
        return { body: { domain } };
      },
    }),
  ];
};
