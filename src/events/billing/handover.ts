import { Type, type Static } from 'typebox';

/** What changes hands with the ownership. */
export const movingItems = [
  'ownership',
  'billing_account',
  'subscription',
  'billing_portal',
  'own_link',
  'previous_subscription',
  'other_offers',
] as const;
/** What stays as it is. */
export const stayingItems = ['links', 'site', 'repository', 'hosting', 'documents', 'delivery', 'domains'] as const;
/** What is not as it should be when a website is handed over. */
export const missingItems = [
  'expired',
  'archived',
  'provisioning',
  'delivery_not_set_up',
  'delivery',
  'unverified_domains',
  'price',
  'attachment',
  'recipient',
  'payment_method',
] as const;

export const MovingItem = Type.Enum([...movingItems]);
export type MovingItem = Static<typeof MovingItem>;
const StayingItem = Type.Enum([...stayingItems]);
const MissingItem = Type.Enum([...missingItems]);

/** How many there are, where that says something. */
const Count = Type.Optional(Type.Integer({ minimum: 0 }));

/** What a hand-over comes to, as of one moment: codes and numbers, nothing personal. */
export const HandoverItems = Type.Object({
  moves: Type.Array(Type.Object({ item: MovingItem, count: Count })),
  stays: Type.Array(Type.Object({ item: StayingItem, count: Count })),
  missing: Type.Array(Type.Object({ item: MissingItem, count: Count })),
});
export type HandoverItems = Static<typeof HandoverItems>;

/** Who pays at the time: the agency, or an owner with a subscription. */
export const Payer = Type.Enum(['agency', 'owner']);
export type Payer = Static<typeof Payer>;

/** What a new subscription costs, as far as the payment provider says it: in the smallest unit of the currency. */
export const HandoverPrice = Type.Object({
  amount: Type.Optional(Type.Integer()),
  currency: Type.Optional(Type.String()),
  interval: Type.Optional(Type.Enum(['day', 'week', 'month', 'year'])),
});

/** The facts that a hand-over is drawn up from. */
export interface HandoverFacts {
  readonly isExpired: boolean;
  readonly isArchived: boolean;
  readonly isActive: boolean;
  /** Open checkpoints; absent before delivery tracking is set up. */
  readonly openCheckpoints?: number | undefined;
  readonly domains: number;
  readonly unverifiedDomains: number;
  /** Links of others than the recipient. */
  readonly links: number;
  readonly isRecipientLinked: boolean;
  readonly isRecipientKnown: boolean;
  /** Open offers of the website to others. */
  readonly otherOffers: number;
  readonly isOwnerSubscribed: boolean;
  /** Whether the terms name a subscription that exists, instead of a new one. */
  readonly isAttached: boolean;
  /** Whether the price, or the subscription that is to be attached, is there; absent: not asked. */
  readonly areTermsValid?: boolean | undefined;
}

type Counted<Item> = { readonly item: Item; readonly count?: number };

const some = <Item>(item: Item, count: number): readonly Counted<Item>[] => (count > 0 ? [{ item, count }] : []);
const when = <Item>(isTrue: boolean, item: Item): readonly Counted<Item>[] => (isTrue ? [{ item }] : []);

/** What moves, what stays, and what is missing, in the order in which people read it. */
export const drawUpHandover = (facts: HandoverFacts): HandoverItems => ({
  moves: [
    { item: 'ownership' },
    { item: 'billing_account' },
    { item: 'subscription' },
    { item: 'billing_portal' },
    ...when(facts.isRecipientLinked, 'own_link' as const),
    ...when(facts.isOwnerSubscribed, 'previous_subscription' as const),
    ...some('other_offers' as const, facts.otherOffers),
  ],
  stays: [
    ...some('links' as const, facts.links),
    { item: 'site' },
    { item: 'repository' },
    { item: 'hosting' },
    { item: 'documents' },
    { item: 'delivery' },
    ...some('domains' as const, facts.domains),
  ],
  missing: [
    ...when(facts.isExpired, 'expired' as const),
    ...when(facts.isArchived, 'archived' as const),
    ...when(!facts.isActive, 'provisioning' as const),
    ...when(facts.openCheckpoints === undefined, 'delivery_not_set_up' as const),
    ...some('delivery' as const, facts.openCheckpoints ?? 0),
    ...some('unverified_domains' as const, facts.unverifiedDomains),
    ...when(facts.areTermsValid === false, facts.isAttached ? ('attachment' as const) : ('price' as const)),
    ...when(!facts.isRecipientKnown, 'recipient' as const),
    ...when(!facts.isAttached, 'payment_method' as const),
  ],
});

/** The record of a claim: what it came to when it began, and when each item was done. */
export interface Handover {
  /** Whose claim it is; absent of one that was carried out before hand-overs were recorded. */
  readonly claim?: { readonly invitationId: string; readonly newOwnerId: string };
  readonly items: HandoverItems;
  /** ISO 8601 UTC, as all times. */
  readonly drawnUpAt: string;
  readonly payer: Payer;
  readonly previousOwnerId?: string;
  readonly priceId?: string;
  /** Absent of a record from before prices were recorded. */
  readonly price?: Static<typeof HandoverPrice>;
  readonly subscriptionId?: string;
  readonly done: ReadonlyMap<MovingItem, string>;
  readonly completedAt?: string;
}
