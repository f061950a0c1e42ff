import type { Feature, ListWebsitesQuery, Tier, WebsiteStatus } from '@doorstep/sdk';

export const attentions = ['failed', 'late', 'waiting'] as const;
export const statuses = ['provisioning', 'active'] as const satisfies readonly WebsiteStatus[];
export const tiers = ['starter', 'growth', 'scale'] as const satisfies readonly Tier[];
export const features = [
  'content',
  'documents',
  'analytics',
  'marketing',
  'seo',
  'scheduling',
  'commerce',
  'blueprint',
] as const satisfies readonly Feature[];
export const sorts = ['-createdAt', 'name', '-name', 'estimatedCompletionAt', '-estimatedCompletionAt'] as const;

/** What the table shows: kept in the address. */
export interface Filter {
  readonly q: string;
  readonly attention: (typeof attentions)[number] | '';
  readonly status: WebsiteStatus | '';
  readonly tier: Tier | '';
  readonly feature: Feature | '';
  readonly archived: boolean;
  readonly sort: (typeof sorts)[number];
}

const oneOf = <T extends string>(values: readonly T[], text: string | null): T | undefined =>
  values.find((value) => value === text);

/** What an address says; what it says wrongly is as if it said nothing. */
export const filterIn = (params: URLSearchParams): Filter => ({
  q: params.get('q') ?? '',
  attention: oneOf(attentions, params.get('attention')) ?? '',
  status: oneOf(statuses, params.get('status')) ?? '',
  tier: oneOf(tiers, params.get('tier')) ?? '',
  feature: oneOf(features, params.get('feature')) ?? '',
  archived: params.get('archived') === 'true',
  sort: oneOf(sorts, params.get('sort')) ?? sorts[0],
});

/** The address of a filter: what is as usual is left out. */
export const paramsOf = ({ sort, archived, ...texts }: Filter): URLSearchParams =>
  new URLSearchParams([
    ...Object.entries(texts).filter(([, text]) => text !== ''),
    ...(archived ? [['archived', 'true']] : []),
    ...(sort === sorts[0] ? [] : [['sort', sort]]),
  ]);

/** Whether it hides anything. */
export const isNarrowed = ({ q, attention, status, tier, feature }: Filter): boolean =>
  [q.trim(), attention, status, tier, feature].some((text) => text !== '');

/** As the service takes it. */
export const queryOf = ({ q, attention, status, tier, feature, archived, sort }: Filter): ListWebsitesQuery => ({
  sort,
  ...(q.trim() !== '' && { q: q.trim() }),
  ...(attention !== '' && { attention }),
  ...(status !== '' && { status }),
  ...(tier !== '' && { tier }),
  ...(feature !== '' && { feature }),
  ...(archived && { archived }),
});
