import { beforeAll, expect, test } from '@jest/globals';
import { addressChangeKey } from '../../src/commands/client/addressChange.handlers.js';
import { clientFold, pendingChange } from '../../src/events/client/client.state.js';
import { eventually } from '../support/eventually.js';
import { startApi, type RunningApi } from '../support/http.js';

let api: RunningApi;
let token: string;
beforeAll(async () => {
  api = await startApi({ environment: { BRAND_NAME: 'Smith & Co.' } });
  token = await api.mintToken();
});

const german = { 'accept-language': 'fr;q=0.9, de-AT;q=0.8, en;q=0.7' };

const open = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(new URL(path, api.url), init);
  const text = await answer.text();
  return {
    status: answer.status,
    text,
    language: /<html lang="(\w+)"/.exec(text)?.[1],
    heading: /<h1>(.*?)<\/h1>/.exec(text)?.[1],
  };
};

test('a new address is confirmed in the language of the browser', async () => {
  const { body } = await api.call('POST', '/clients', { token, body: { email: 'carla@example.com' } });
  const { id: clientId } = body as { id: string };
  await api.call('PATCH', `/clients/${clientId}`, { token, body: { email: 'carla@example.org' } });
  const { state } = await api.engine.state(clientFold, { clientId });
  const changeId = (state.stage === 'registered' ? pendingChange(state)?.changeId : undefined) ?? '';
  const path = `/app/address-changes/${changeId}?key=${addressChangeKey(api.engine, changeId)}`;

  const pending = await open(path, { headers: german });
  expect(pending).toMatchObject({ status: 200, language: 'de', heading: 'Bestätigen Sie Ihre neue Adresse' });
  expect(pending.text).toContain('bei Smith &amp; Co. mit <strong>carla@example.org</strong> an');
  expect(await open(path)).toMatchObject({ status: 200, language: 'en', heading: 'Confirm your new address' });
  const confirmed = await open(path, { method: 'POST', headers: german });
  expect(confirmed).toMatchObject({ status: 200, language: 'de', heading: 'Ihre Adresse ist bestätigt' });
  const gone = await open('/app/address-changes/nonsense?key=x', { headers: german });
  expect(gone).toMatchObject({ status: 404, language: 'de', heading: 'Dieser Link gilt nicht mehr' });
});

test('an invoice is read in the language of the browser, with its dates and amounts', async () => {
  const { body: client } = await api.call('POST', '/clients', { token, body: { email: 'ana@example.com' } });
  const { id: clientId } = client as { id: string };
  const { body: website } = await api.call('POST', '/websites', { token, body: { name: 'Bakery', slug: 'bakery', clientId } });
  const invoices = `/websites/${(website as { id: string }).id}/billing/invoices`;
  const input = { total: 123_456, currency: 'eur', description: 'Hosting', dueAt: '2026-12-01T00:00:00.000Z' };
  const invoice = await eventually('the account of the owner', async () => {
    const { status, body } = await api.call('POST', invoices, { token, body: input });
    return status === 201 ? (body as { number: string; url: string }) : undefined;
  });
  const page = await open(invoice.url, { headers: german });
  expect(page).toMatchObject({ status: 200, language: 'de', heading: `Rechnung ${invoice.number}` });
  expect(page.text.replaceAll('\u00a0', ' ')).toContain('1.234,56 €');
  expect(page.text).toContain('Zu zahlen bis 1. Dezember 2026.');
  const english = await open(invoice.url);
  expect([english.language, english.text]).toEqual(['en', expect.stringContaining('€1,234.56')]);
});
