import { DoorstepError } from '@doorstep/sdk';
import { queryOptions } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { billingKeys } from './keys.js';

/** What is paid for a website. */
export const billingQuery = (websiteId: string) =>
  queryOptions({
    queryKey: billingKeys.billing(websiteId),
    queryFn: ({ signal }) => doorstep.websites.billing.get(websiteId, { signal }),
  });

const anyInvoice = { total: 1, currency: 'eur', description: '–' } as const;

/**
 * Whether admins write the invoices by hand: with the embedded ledger alone the service has a route for
 * it, which a dry run finds without writing anything.
 */
export const ledgerQuery = (websiteId: string) =>
  queryOptions({
    queryKey: billingKeys.ledger(websiteId),
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      try {
        await doorstep.websites.invoices.create(websiteId, anyInvoice, { dryRun: true, signal });
        return true;
      } catch (error) {
        // Refused for another reason: without an owner there is nobody to write an invoice to.
        if (error instanceof DoorstepError && (error.status === 404 || error.status === 400)) return false;
        throw error;
      }
    },
  });
