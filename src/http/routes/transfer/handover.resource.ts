import { Type, type Static } from 'typebox';
import {
  missingItems,
  movingItems,
  stayingItems,
  type Handover,
  type HandoverItems,
  type Payer,
} from '../../../events/billing/handover.js';
import type { Price } from '../../../integrations/payments/port.js';
import { exampleIds } from '../../openapi/vocabulary.js';
import { PersonalAddress } from '../../personalFields.js';

const Time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));
const What = (example: string) => Type.String({ description: 'In words for people.', examples: [example] });
const Count = Type.Optional(Type.Integer({ description: 'How many, where that says something.', examples: [2] }));

/** What a transfer comes to (api.md, section 4). */
export const TransferLedger = Type.Object(
  {
    transferId: Type.String({ description: 'Id of the transfer.', examples: [exampleIds.transfer] }),
    websiteId: Type.String(),
    email: PersonalAddress,
    status: Type.Enum(['open', 'expired', 'under_way', 'completed'], {
      description: '`under_way`: claimed, and not all of it is done.',
    }),
    drawnUpAt: Time('When it was claimed and this was written down; before, it is as of now.'),
    completedAt: Time('When everything that the new owner gets was done.'),
    moves: Type.Array(
      Type.Object({
        item: Type.Enum([...movingItems], { description: 'Which item, for programs.' }),
        what: What('The website belongs to the new owner.'),
        count: Count,
        doneAt: Time('When it was done; absent while it is not.'),
      }),
      { description: 'What changes hands, or ends, with the claim.' },
    ),
    stays: Type.Array(
      Type.Object({
        item: Type.Enum([...stayingItems], { description: 'Which item, for programs.' }),
        what: What('The repository stays in the agency’s account.'),
        count: Count,
      }),
      { description: 'What stays as it is.' },
    ),
    pays: Type.Array(
      Type.Object({
        who: Type.Enum(['agency', 'owner', 'new_owner'], { description: '`owner`: who owns the website before the claim.' }),
        what: What('The new owner pays from the claim on.'),
        from: Time('Since when, once it is so.'),
        until: Time('Until when, once it is over.'),
        price: Type.Optional(
          Type.Object(
            {
              id: Type.Optional(Type.String({ description: 'As the payment provider names it.', examples: ['price_monthly'] })),
              amount: Type.Optional(Type.Integer({ description: 'In the smallest unit of the currency.', examples: [2_900] })),
              currency: Type.Optional(Type.String()),
              interval: Type.Optional(Type.Enum(['day', 'week', 'month', 'year'], { description: 'How often it is paid.' })),
            },
            { description: 'As the payment provider has it, or had it at the claim; without an amount where it names none.' },
          ),
        ),
        priceUnavailable: Type.Optional(Type.Literal(true, { description: 'The payment provider could not be asked.' })),
        subscription: Type.Optional(
          Type.String({ description: 'Id of the subscription that exists and goes on.', examples: ['sub_1'] }),
        ),
      }),
      { description: 'Who pays from when, in the order of time.' },
    ),
    missing: Type.Array(
      Type.Object({
        item: Type.Enum([...missingItems], { description: 'Which item, for programs.' }),
        what: What('3 checkpoints of the delivery are open.'),
        count: Count,
      }),
      { description: 'What is not as it should be; after the claim: was not, when it began.' },
    ),
  },
  { $id: 'TransferLedger', description: 'What a transfer moves, what stays, who pays from when and what is missing.' },
);

type Words<Item extends string> = Readonly<Record<Item, string | ((count: number) => string)>>;

const many = (count: number, one: string, more: string): string => (count === 1 ? `1 ${one}` : `${String(count)} ${more}`);

const movingWords: Words<(typeof movingItems)[number]> = {
  ownership: 'The website belongs to the new owner.',
  billing_account: 'The new owner is a customer of the payment provider.',
  subscription: 'The subscription for the website is the new owner’s.',
  billing_portal: 'Invoices and the billing portal are open to the new owner.',
  own_link: 'The new owner’s link to the website ends: an owner needs none.',
  previous_subscription: 'The subscription of the owner before ends, without a further invoice.',
  other_offers: (count) => `${many(count, 'offer', 'offers')} of the website to others ${count === 1 ? 'is' : 'are'} withdrawn.`,
};

const stayingWords: Words<(typeof stayingItems)[number]> = {
  links: (count) => `${many(count, 'linked client keeps', 'linked clients keep')} the access that they have.`,
  site: 'The site stays at its address, as it is.',
  repository: 'The repository stays in the agency’s account.',
  hosting: 'The hosting project stays in the agency’s account.',
  documents: 'Documents, content and media stay with the website.',
  delivery: 'The delivery goes on as it is.',
  domains: (count) => `${many(count, 'domain stays', 'domains stay')} with the website.`,
};

const missingWords: Words<(typeof missingItems)[number]> = {
  expired: 'The offer has expired: send it again.',
  archived: 'The website is archived: restore it first.',
  provisioning: 'The website is not active yet.',
  delivery_not_set_up: 'Delivery tracking is not set up.',
  delivery: (count) => `${many(count, 'checkpoint of the delivery is', 'checkpoints of the delivery are')} open.`,
  unverified_domains: (count) => `${many(count, 'domain is', 'domains are')} not verified.`,
  price: 'The payment provider does not know the price.',
  attachment: 'The subscription that the offer names cannot be taken over.',
  recipient: 'The person is no client yet: they have to sign in with the invited address, which must be verified.',
  payment_method: 'No payment method is known: the new owner pays by invoice.',
};

const worded = <Item extends string>(
  words: Words<Item>,
  entries: readonly { readonly item: Item; readonly count?: number }[],
): { item: Item; what: string; count?: number }[] =>
  entries.map(({ item, count: times }) => {
    const say: string | ((count: number) => string) = words[item];
    return { item, what: typeof say === 'string' ? say : say(times ?? 0), ...(times !== undefined && { count: times }) };
  });

type Shown = Static<typeof TransferLedger>;

/** @param isAdmin the number of other offers is for admins */
export const toItems = (
  items: HandoverItems,
  done: Handover['done'],
  isAdmin: boolean,
): Pick<Shown, 'moves' | 'stays' | 'missing'> => ({
  moves: worded(movingWords, items.moves)
    .filter(({ item }) => isAdmin || item !== 'other_offers')
    .map((entry) => {
      const doneAt = done.get(entry.item);
      return { ...entry, ...(doneAt !== undefined && { doneAt }) };
    }),
  stays: worded(stayingWords, items.stays),
  missing: worded(missingWords, items.missing),
});

export interface Payment {
  /** Who pays before the claim. */
  readonly payer: Payer;
  readonly done: Handover['done'];
  /** A subscription that exists and goes on. */
  readonly subscriptionId?: string | undefined;
  /** Of a new one; `unavailable`: the provider could not be asked. */
  readonly price?: Price | 'unavailable' | undefined;
}

export const toPays = ({ payer, done, subscriptionId, price }: Payment): Shown['pays'] => {
  const from = done.get('subscription');
  const until = payer === 'owner' ? done.get('previous_subscription') : from;
  const before =
    payer === 'owner'
      ? { who: 'owner' as const, what: 'The owner before pays for their subscription until the website has changed hands.' }
      : { who: 'agency' as const, what: 'The agency bears the cost until the claim: nobody is billed for the website.' };
  const after =
    subscriptionId === undefined
      ? 'The new owner pays for a new subscription from the claim on.'
      : 'The new owner pays for the subscription that exists, as it goes on.';
  return [
    { ...before, ...(until !== undefined && { until }) },
    {
      who: 'new_owner',
      what: after,
      ...(from !== undefined && { from }),
      ...(subscriptionId !== undefined && { subscription: subscriptionId }),
      ...(price === 'unavailable' && { priceUnavailable: true as const }),
      // The embedded ledger has prices without a name: what is billed is agreed elsewhere.
      ...(price !== undefined && price !== 'unavailable' && Object.keys(price).length > 0 && { price: { ...price } }),
    },
  ];
};
