import type { AddInvoiceRequest, Billing, Invoice } from '@doorstep/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { billingKeys } from './keys.js';

/** Takes over an invoice as it is now. */
const useTakeOver = (websiteId: string): ((invoice: Invoice) => void) => {
  const client = useQueryClient();
  const queryKey = billingKeys.billing(websiteId);
  return (invoice) => {
    client.setQueryData<Billing>(queryKey, (billing) => {
      if (billing === undefined) return undefined;
      const others = billing.invoices.filter(({ id }) => id !== invoice.id);
      return others.length === billing.invoices.length
        ? { ...billing, invoices: [invoice, ...others] }
        : { ...billing, invoices: billing.invoices.map((one) => (one.id === invoice.id ? invoice : one)) };
    });
    void client.invalidateQueries({ queryKey });
  };
};

export const useAddInvoice = (websiteId: string) => {
  const takeOver = useTakeOver(websiteId);
  return useMutation({
    mutationFn: (invoice: AddInvoiceRequest) => doorstep.websites.invoices.create(websiteId, invoice),
    onSuccess: takeOver,
  });
};

export const usePayInvoice = (websiteId: string) => {
  const takeOver = useTakeOver(websiteId);
  return useMutation({
    mutationFn: ({ id }: Invoice) => doorstep.websites.invoices.pay(websiteId, id),
    onSuccess: takeOver,
  });
};

export const useVoidInvoice = (websiteId: string) => {
  const takeOver = useTakeOver(websiteId);
  return useMutation({
    mutationFn: ({ id }: Invoice) => doorstep.websites.invoices.void(websiteId, id),
    onSuccess: takeOver,
  });
};

/** Leads to the page of the payment provider, which leads back here. */
export const useOpenPortal = (websiteId: string) =>
  useMutation({
    mutationFn: () => doorstep.websites.billing.openPortal(websiteId),
    onSuccess: ({ url }) => location.assign(url),
  });
