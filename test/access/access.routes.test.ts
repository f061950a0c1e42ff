import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { invitationExpiry } from '../../src/events/access/access.state.js';
import { invitationMailProcess, lastSentAt } from '../../src/workers/invitationMail/invitationMail.process.js';
import { someAdmin } from '../support/given.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';

let api: RunningApi;
let admin: string;
let websiteId: string;
let path: string;
let count = 0;

beforeAll(async () => {
  api = await startApi();
  admin = await api.mintToken();
});

beforeEach(async () => {
  count += 1;
  const { body } = await api.call('POST', '/websites', { token: admin, body: { name: 'Bakery', slug: `bakery-${count}` } });
  websiteId = (body as { id: string }).id;
  path = `/websites/${websiteId}/clients`;
});

interface People {
  readonly owner: unknown;
  readonly links: readonly { readonly clientId: string; readonly email: string; readonly role: string }[];
  readonly invitations: readonly { readonly id: string; readonly email: string }[];
}

const list = async (query = ''): Promise<ApiAnswer & { readonly people: People }> => {
  const answer = await api.call('GET', `${path}${query}`, { token: admin });
  return { ...answer, people: answer.body as People };
};
const add = (email: string, role = 'viewer') => api.call('POST', path, { token: admin, body: { email, role } });
const register = async (email: string): Promise<string> =>
  ((await api.call('POST', '/clients', { token: admin, body: { email } })).body as { id: string }).id;
const addressOf = (name: string): string => `${name}-${count}@example.com`;

/** The page that an answer links to. */
const nextOf = ({ headers }: ApiAnswer): string | undefined =>
  /clients(\?[^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];

describe('the people of a website', () => {
  test('are listed as of now: links page by page, newest clients first; invitations, newest first', async () => {
    const clientIds: string[] = [];
    for (const name of ['anna', 'berta', 'clara']) {
      clientIds.unshift(await register(addressOf(name)));
      await add(addressOf(name));
    }
    await add(addressOf('dora'));
    await add(addressOf('emma'));

    const first = await list('?limit=2');
    expect(first.people.links.map(({ clientId }) => clientId)).toEqual(clientIds.slice(0, 2));
    expect(first.people.invitations.map(({ email }) => email)).toEqual([addressOf('emma'), addressOf('dora')]);
    const second = await list(nextOf(first));
    expect(second.people.links.map(({ clientId }) => clientId)).toEqual(clientIds.slice(2));
    expect(nextOf(second)).toBeUndefined();
    expect((await list()).people.links).toHaveLength(3);

    // A page goes on after the last link of the page before, also when that has been removed since.
    await api.call('DELETE', `${path}/${clientIds[1] ?? ''}`, { token: admin });
    expect((await list(nextOf(first))).people.links.map(({ clientId }) => clientId)).toEqual(clientIds.slice(2));
    expect((await list()).people.links.map(({ clientId }) => clientId)).toEqual([clientIds[0], clientIds[2]]);
  });

  test('are listed whole, also with more than 200 open invitations: pages of the others follow those of the links', async () => {
    const clientId = await register(addressOf('anna'));
    await add(addressOf('anna'));
    const guests = Array.from({ length: 205 }, (_, index) => addressOf(`guest-${index}`));
    await Promise.all(guests.map((guest) => add(guest)));

    const first = await list('?limit=3');
    const second = await list(nextOf(first));
    const third = await list(nextOf(second));
    expect(nextOf(third)).toBeUndefined();
    const pages = [first, second, third].map(({ people }) => people);
    expect(pages.map(({ links }) => links)).toMatchObject([[{ clientId }], [], []]);
    expect(pages.map(({ invitations }) => invitations.length)).toEqual([200, 3, 2]);
    const invited = pages.flatMap(({ invitations }) => invitations.map(({ email }) => email));
    expect(invited.sort()).toEqual([...guests].sort());
  });

  test('are those of this website alone, each with their own role', async () => {
    const clientId = await register(addressOf('anna'));
    await add(addressOf('anna'), 'editor');
    const other = await api.call('POST', '/websites', { token: admin, body: { name: 'x', slug: `x-${count}` } });
    const elsewhere = `/websites/${(other.body as { id: string }).id}/clients`;
    const body = { email: addressOf('anna'), role: 'viewer' };
    await api.call('POST', elsewhere, { token: admin, body });
    expect((await list()).people.links).toMatchObject([{ clientId, role: 'editor' }]);
    expect((await api.call('GET', elsewhere, { token: admin })).body).toMatchObject({ links: [{ clientId, role: 'viewer' }] });
  });

  test('see in /me what they are invited to, and nobody else does', async () => {
    const email = addressOf('anna');
    const { id } = ((await add(email)).body as { invitation: { id: string } }).invitation;
    await add(addressOf('berta'));
    const offer = await api.call('POST', `/websites/${websiteId}/transfers`, { token: admin, body: { email } });
    const { id: offerId } = offer.body as { id: string };
    const as = (subject: string, verifiedEmail?: string) =>
      api.mintToken({ role: 'client', subject, ...(verifiedEmail !== undefined && { verifiedEmail }) });
    const invitationsOf = async (token: string) =>
      ((await api.call('GET', '/me', { token })).body as { invitations: readonly object[] }).invitations;
    const anna = await as(`anna-${count}`, email);
    const both = { websiteId, websiteName: 'Bakery', email, status: 'pending' };
    expect(await invitationsOf(anna)).toMatchObject([
      { ...both, id: offerId, kind: 'ownership_transfer' },
      { ...both, id, kind: 'client_access' },
    ]);
    expect(JSON.stringify(await invitationsOf(anna))).not.toContain('claimUrl');
    await api.call('POST', `/websites/${websiteId}/archive`, { token: admin });
    expect(await invitationsOf(anna)).toEqual([]);
    await api.call('POST', `/websites/${websiteId}/restore`, { token: admin });
    expect(await invitationsOf(await as(`unverified-${count}`))).toEqual([]);
    expect(await invitationsOf(await as(`stranger-${count}`, addressOf('stranger')))).toEqual([]);

    await api.call('DELETE', `/websites/${websiteId}/transfers/${offerId}`, { token: admin });
    expect(await invitationsOf(anna)).toMatchObject([{ id }]);
    expect((await api.call('POST', `/invitations/${id}/claim`, { token: anna })).status).toBe(200);
    expect(await invitationsOf(anna)).toEqual([]);
  });

  test('have addresses with international domains, in whichever form these are written', async () => {
    const shown = `anna-${count}@müller.example`;
    const punycode = `anna-${count}@xn--mller-kva.example`;
    const { invitation } = (await add(shown)).body as { invitation: { id: string; email: string } };
    expect(invitation.email).toBe(shown);
    expect(await add(punycode)).toMatchObject({ status: 200, body: { invitation: { id: invitation.id } } });
    const anna = await api.mintToken({ role: 'client', subject: `anna-${count}`, verifiedEmail: shown });
    expect((await api.call('POST', `/invitations/${invitation.id}/claim`, { token: anna })).status).toBe(200);
    const found = await api.call('GET', `/clients?email=${encodeURIComponent(punycode)}`, { token: admin });
    expect(found.body).toMatchObject([{ email: shown }]);
  });

  test('say when their mail was asked for, until it left, and then that', async () => {
    const { invitation } = (await add(addressOf('anna'))).body as {
      invitation: { id: string; createdAt: string; sentAt: string };
    };
    expect(invitation.sentAt).toBe(invitation.createdAt);
    const context = () => ({ commandId: api.engine.ids.commandId(), actor: someAdmin, requestId: 'test' });
    const mail = { websiteId, invitationId: invitation.id, eventId: 'e1', attempt: 1 };
    await api.engine.handle(invitationMailProcess, { type: 'StartAttempt', ...mail, worker: 'w' }, context());
    expect((await list()).people.invitations[0]).toMatchObject({ sentAt: invitation.sentAt });
    const { state } = await api.engine.handle(invitationMailProcess, { type: 'RecordSent', ...mail }, context());
    expect((await list()).people.invitations[0]).toMatchObject({ sentAt: lastSentAt(state) });
    const resent = await api.call('POST', `/websites/${websiteId}/client-invitations/${invitation.id}/resend`, { token: admin });
    const { sentAt, expiresAt } = resent.body as { sentAt: string; expiresAt: string };
    expect(invitationExpiry(sentAt)).toBe(expiresAt);
    expect((await list()).people.invitations[0]).toMatchObject({ sentAt });
  });

  test('are added once; an invitation of a person who registers leads to a link', async () => {
    const invited = await add(addressOf('anna'));
    expect([invited.status, invited.body]).toMatchObject([201, { kind: 'invited', invitation: { email: addressOf('anna') } }]);
    expect([(await add(addressOf('anna'))).status, (await list()).people.invitations.length]).toEqual([200, 1]);
    const clientId = await register(addressOf('anna'));
    expect(await add(addressOf('anna'), 'editor')).toMatchObject({ status: 201, body: { kind: 'linked', link: { clientId } } });
    expect((await list()).people).toMatchObject({ links: [{ clientId, role: 'editor' }], invitations: [] });
  });

  test.each(['resend', 'revoke'])('are not reached through another website: %s', async (what) => {
    const { id } = ((await add(addressOf('anna'))).body as { invitation: { id: string } }).invitation;
    const other = await api.call('POST', '/websites', { token: admin, body: { name: 'x', slug: `y-${count}` } });
    const elsewhere = `/websites/${(other.body as { id: string }).id}/client-invitations/${id}`;
    const [method, to] = what === 'resend' ? ['POST', `${elsewhere}/resend`] : ['DELETE', elsewhere];
    expect(await api.call(method, to, { token: admin })).toMatchObject({
      status: 404,
      body: { error: `Invitation ${id} not found` },
    });
    expect((await list()).people.invitations).toMatchObject([{ id }]);
  });
});

describe('a removal is undone', () => {
  const remove = (clientId: string) => api.call('DELETE', `${path}/${clientId}`, { token: admin });
  const undo = (clientId: string, query = '', headers = {}) =>
    api.call('POST', `${path}/${clientId}/undo${query}`, { token: admin, headers });
  const linked = async (role = 'editor') => {
    const clientId = await register(addressOf('anna'));
    const { link } = (await add(addressOf('anna'), role)).body as { link: { createdAt: string } };
    return { clientId, link };
  };
  const refused = (status: number, code: string, error: string) => ({ status, body: { code, error } });

  test('the link is back as it was, and lets the person in at once', async () => {
    const { clientId, link } = await linked();
    const anna = await api.mintToken({ role: 'client', subject: `undo-${count}`, verifiedEmail: addressOf('anna') });
    const mayRead = async (): Promise<number> => (await api.call('GET', `/websites/${websiteId}`, { token: anna })).status;
    expect([await mayRead(), (await remove(clientId)).status, await mayRead()]).toEqual([200, 204, 403]);
    const undone = await undo(clientId);
    expect([undone.status, undone.body]).toEqual([200, link]);
    expect([await mayRead(), (await list()).people.links]).toEqual([200, [link]]);
    expect((await undo(clientId)).body).toEqual(link);
  });

  test('not when there is a link that was never removed, or never was one', async () => {
    const { clientId } = await linked();
    const notRemoved = `The link of client ${clientId} to website ${websiteId} was not removed`;
    expect(await undo(clientId)).toMatchObject(refused(400, 'link_not_removed', notRemoved));
    const stranger = await register(addressOf('berta'));
    const notLinked = `Client ${stranger} is not linked to website ${websiteId}`;
    expect(await undo(stranger)).toMatchObject(refused(404, 'link_not_found', notLinked));
    expect((await undo('nobody')).status).toBe(404);
  });

  test('not of who owns the website meanwhile, or was erased', async () => {
    const { clientId } = await linked();
    await remove(clientId);
    await api.call('PATCH', `/websites/${websiteId}`, { token: admin, body: { clientId } });
    expect(await undo(clientId)).toMatchObject(refused(400, 'already_owner', 'Client already owns this website'));
    await api.call('DELETE', `/clients/${clientId}`, { token: admin });
    expect(await undo(clientId)).toMatchObject(refused(404, 'client_not_found', `Client ${clientId} does not exist`));
  });

  test('not on an archived website', async () => {
    const { clientId } = await linked();
    await api.call('POST', `/websites/${websiteId}/archive`, { token: admin });
    expect((await remove(clientId)).status).toBe(204);
    expect(await undo(clientId)).toMatchObject(refused(400, 'website_archived', `Website ${websiteId} is archived`));
  });

  test('a link that was given again since stays as it is', async () => {
    const { clientId } = await linked('editor');
    await remove(clientId);
    const again = (await add(addressOf('anna'), 'viewer')).body as { link: object };
    expect(await undo(clientId)).toMatchObject({ status: 200, body: again.link });
  });

  test('a dry run says what would come of it, and a stale If-Match is refused', async () => {
    const { clientId } = await linked();
    const { headers } = await api.call('PATCH', `${path}/${clientId}`, { token: admin, body: { role: 'viewer' } });
    await remove(clientId);
    const tried = await undo(clientId, '?dryRun=1');
    expect(tried.body).toMatchObject({ events: [{ type: 'ClientLinkRestored', data: { clientId, role: 'viewer' } }] });
    expect((await list()).people.links).toEqual([]);
    const stale = await undo(clientId, '', { 'if-match': headers.get('etag') ?? '' });
    expect(stale).toMatchObject(refused(400, 'stale', 'Someone else saved while you were editing'));
  });
});
