import { domainsOf } from '../domain/domain.queries.js';
import type { Reader } from '../reader.js';
import { servicesOf } from '../service/service.queries.js';
import type { WebsiteDocument } from '../website/website.projection.js';

/** A part of a website, as its blueprint shows it. */
export interface BlueprintPart {
  readonly id: string;
  readonly kind: 'website' | 'repository' | 'hosting' | 'content' | 'domains' | 'domain' | 'services' | 'service';
  readonly label: string;
  /** `pending`: it is being made or proved; `off`: there is none. */
  readonly state: 'ready' | 'pending' | 'off';
  /** The id of what it hangs on. */
  readonly partOf?: string;
}

/** The parts of a website as of now, each after the one that it is part of. */
export const blueprintParts = async (
  reader: Pick<Reader, 'read' | 'list'>,
  website: WebsiteDocument,
): Promise<readonly BlueprintPart[]> => {
  const { id, name, slug, status, repository, hosting, features } = website;
  const [domains, services] = await Promise.all([domainsOf(reader, id), servicesOf(reader, id)]);
  const made = (part: object | undefined) => (part === undefined ? 'pending' : 'ready');
  const proved = domains.some((domain) => domain.status === 'verified') ? 'ready' : 'pending';
  return [
    { id: 'website', kind: 'website', label: name, state: status === 'active' ? 'ready' : 'pending' },
    { id: 'repository', kind: 'repository', label: repository?.name ?? slug, state: made(repository), partOf: 'website' },
    { id: 'hosting', kind: 'hosting', label: hosting?.name ?? slug, state: made(hosting), partOf: 'website' },
    {
      ...{ id: 'content', kind: 'content', label: 'Content', partOf: 'website' },
      state: features.includes('content') ? 'ready' : 'off',
    },
    { id: 'domains', kind: 'domains', label: 'Domains', state: domains.length === 0 ? 'off' : proved, partOf: 'hosting' },
    ...domains.map(({ domain, status: proof }): BlueprintPart => ({
      ...{ id: `domain:${domain}`, kind: 'domain', label: domain, partOf: 'domains' },
      state: proof === 'verified' ? 'ready' : 'pending',
    })),
    { id: 'services', kind: 'services', label: 'Services', state: services.length === 0 ? 'off' : 'ready', partOf: 'website' },
    // There is one of a kind at most.
    ...services.map(({ kind }): BlueprintPart => ({
      id: `service:${kind}`,
      kind: 'service',
      label: kind,
      state: 'ready',
      partOf: 'services',
    })),
  ];
};
