import { everyDocument } from '../everyDocument.js';
import type { Reader } from '../reader.js';
import { billingProjection, type BillingDocument } from './billing.projection.js';

type Recorded = BillingDocument['subscriptions'][number] & { readonly websiteId: string };

/**
 * The subscriptions at a payment provider that the service has recorded, ended ones too; those of
 * one website newest first.
 */
export const recordedSubscriptions = async (
  reader: Reader,
  {
    provider,
    websiteId,
    clientId,
  }: { readonly provider: string; readonly websiteId?: string | undefined; readonly clientId?: string | undefined },
): Promise<readonly Recorded[]> => {
  const documents =
    websiteId === undefined
      ? await everyDocument(reader, billingProjection, clientId === undefined ? {} : { clients: clientId })
      : [(await reader.read(billingProjection, websiteId)).document];
  return documents
    .flatMap((document) => document?.subscriptions.map((one) => ({ ...one, websiteId: document.websiteId })) ?? [])
    .filter((one) => one.provider === provider && (clientId === undefined || one.clientId === clientId));
};
