import { provider, statusOf, idOf, type StripeCustomer, type StripeSubscription } from './stripeObjects.js';
import { createOnce } from './stripeResponses.js';
import type { Attachment, AttachmentRefusal, Payments } from './port.js';

/** Metadata keys by which our customers and subscriptions are found again. */
export const clientKey = 'doorstep_client';
export const websiteKey = 'doorstep_website';

type Marks = Readonly<Record<string, string>>;

/** What is asked of Stripe; null when it does not know the id. An empty mark removes it. */
export interface StripeMarks {
  readonly readSubscription: (id: string) => Promise<StripeSubscription | null>;
  readonly readCustomer: (id: string) => Promise<StripeCustomer | null>;
  readonly markSubscription: (id: string, marks: Marks, idempotencyKey?: string) => Promise<{ readonly replayed: boolean }>;
  readonly markCustomer: (id: string, marks: Marks) => Promise<void>;
}

/**
 * Subscriptions that were made at Stripe by hand become a website's by their metadata. The
 * idempotency key is the lock: a request for another website under the same key is refused, so of
 * two at once only one marks the subscription.
 */
export const createStripeAttachment = ({
  readSubscription,
  readCustomer,
  markSubscription,
  markCustomer,
}: StripeMarks): Pick<Payments, 'checkAttachment' | 'attachSubscription' | 'detachSubscription' | 'markCustomer'> => {
  const look = async ({
    subscriptionId,
    websiteId,
    clientId,
  }: Attachment): Promise<{ readonly customerId: string; readonly isMarked: boolean } | AttachmentRefusal> => {
    const subscription = await readSubscription(subscriptionId);
    if (subscription === null) return 'unknown';
    if (statusOf(subscription.status) === 'canceled') return 'ended';
    const { [websiteKey]: website = '', [clientKey]: client = '' } = subscription.metadata ?? {};
    if (website !== '' && website !== websiteId) return 'otherWebsite';
    const customerId = idOf(subscription.customer);
    const customer = await readCustomer(customerId);
    if (customer === null || customer.deleted === true) return 'ended';
    const others = [client, customer.metadata?.[clientKey] ?? ''].filter((mark) => mark !== '' && mark !== clientId);
    if (clientId !== undefined && others.length > 0) return 'otherClient';
    return { customerId, isMarked: website === websiteId && client === clientId };
  };

  return {
    checkAttachment: async (request) => {
      const found = await look(request);
      return typeof found === 'string' ? found : { customerId: found.customerId };
    },
    attachSubscription: async (request, assertHeld) => {
      const { subscriptionId, websiteId, clientId = '' } = request;
      const current = async (): Promise<'attached' | AttachmentRefusal | null> => {
        const looked = await look(request);
        if (typeof looked === 'string') return looked;
        return looked.isMarked ? 'attached' : null;
      };
      const found = await current();
      if (found !== null) return found;
      return createOnce<'attached' | AttachmentRefusal>({
        provider,
        key: `doorstep-attachment-${subscriptionId}`,
        assertHeld,
        find: current,
        reload: current,
        create: async (idempotencyKey) => {
          const marks = { [clientKey]: clientId, [websiteKey]: websiteId };
          const { replayed } = await markSubscription(subscriptionId, marks, idempotencyKey);
          return { created: 'attached', replayed };
        },
      });
    },
    detachSubscription: async (request) => {
      const found = await look(request);
      if (typeof found === 'string' || !found.isMarked) return;
      await markSubscription(request.subscriptionId, { [clientKey]: '', [websiteKey]: '' });
    },
    markCustomer: (customerId, clientId) => markCustomer(customerId, { [clientKey]: clientId }),
  };
};
