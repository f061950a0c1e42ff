import type { Doorstep, Invitation, Website, WebsiteClientLink } from '@doorstep/sdk';
import { z } from 'zod';
import { counted, dayOf } from '../dates.js';
import { ToolFault } from '../faults.js';
import { tool } from '../tool.js';
import { compact, WebsiteArgument } from '../views.js';

const Email = z.string().min(3).max(254).describe('E-mail address');
const Role = z.enum(['viewer', 'editor']);

const Access = z.object({
  email: z.string(),
  name: z.string().optional(),
  role: z.string().describe('owner, editor or viewer'),
  invitedUntil: z.string().optional().describe('Invited, not yet accepted'),
  expired: z.boolean().optional().describe('The invitation: give_access renews it'),
});

const ofLink = ({ email, name, role }: WebsiteClientLink): z.input<typeof Access> => compact({ email, name, role });

const ofInvitation = ({ email, role, expiresAt, status }: Invitation): z.input<typeof Access> =>
  compact({
    email,
    role: role ?? 'owner',
    invitedUntil: expiresAt,
    expired: status === 'expired' ? true : undefined,
  });

/** Everybody at a website, and who is invited to it. */
const loadAccess = async (doorstep: Doorstep, { id }: Website, signal: AbortSignal) => {
  const links: WebsiteClientLink[] = [];
  let owner;
  // The newest ones come with every page.
  const invitations = new Map<string, Invitation>();
  for await (const page of doorstep.websites.clients.list(id, { limit: 200 }, { signal }).pages()) {
    links.push(...page.links);
    owner = page.owner ?? undefined;
    for (const invitation of page.invitations) invitations.set(invitation.id, invitation);
  }
  return { owner, links, invitations: [...invitations.values()] };
};

/** The offers of a website's ownership that are open. Accepted and expired ones stand between them in the list. */
const loadOffers = async (doorstep: Doorstep, { id }: Website, signal: AbortSignal): Promise<readonly Invitation[]> => {
  const open: Invitation[] = [];
  for await (const offer of doorstep.websites.transfers.list(id, { limit: 200 }, { signal }))
    if (offer.status === 'pending') open.push(offer);
  return open;
};

export const explainAccess = tool({
  name: 'explain_access',
  title: 'Who may see a website, and why',
  description:
    'List who has access to a website: owner, editors, viewers, open invitations and offers of ownership. With person: what that person may see and do there, and by which rule (admins only).',
  toolset: 'access',
  operations: ['listWebsiteClients', 'explainAccess', 'listTransfers'],
  callers: ['admin', 'client'],
  effect: 'reads',
  idempotent: true,
  openWorld: false,
  input: z.object({ website: WebsiteArgument, person: Email.optional() }),
  output: z.object({
    slug: z.string(),
    access: z.array(Access).optional(),
    person: z
      .object({
        email: z.string(),
        standing: z.string().describe('admin, owner, editor, viewer or stranger'),
        why: z.string(),
        areas: z.array(
          z.object({ area: z.string(), may: z.string(), not: z.array(z.string()).describe('What they may not, and why') }),
        ),
      })
      .optional(),
  }),
  run: async ({ doorstep, caller, signal }, { website: named, person }) => {
    const website = await doorstep.websites.findListed(named, { signal });
    if (person !== undefined) {
      const explained = await doorstep.websites.access.explain(website.id, { email: person }, { signal });
      const { standing, why } = explained.person;
      return {
        text: [
          `This person is ${standing === 'admin' || standing === 'owner' || standing === 'editor' ? 'an' : 'a'} ${standing} at ${website.slug}.`,
          ...explained.areas.map(({ area, may }) => `- ${area}: ${may}`),
        ].join('\n'),
        quotes: { person: compact({ email: person, name: explained.person.name, why }) },
        data: {
          slug: website.slug,
          person: {
            email: person,
            standing,
            why,
            areas: explained.areas.map(({ area, may, operations }) => ({
              area,
              may,
              not:
                may === 'some'
                  ? operations.filter(({ allowed }) => !allowed).map(({ summary, why: rule }) => `${summary}: ${rule}`)
                  : [],
            })),
          },
        },
      };
    }
    const { owner, links, invitations } = await loadAccess(doorstep, website, signal);
    const offers = caller.role === 'admin' ? await loadOffers(doorstep, website, signal) : [];
    const access: z.input<typeof Access>[] = [
      ...(owner === undefined ? [] : [compact({ email: owner.email, name: owner.name, role: 'owner' })]),
      ...links.map(ofLink),
      ...invitations.map(ofInvitation),
      ...offers.map(ofInvitation),
    ];
    const expired = invitations.filter(({ status }) => status === 'expired').length;
    return {
      text: `${[
        `${website.slug}: ${owner === undefined ? 'no owner' : 'an owner'}`,
        `${String(links.length)} linked`,
        `${String(invitations.length - expired + offers.length)} invited`,
        ...(expired === 0 ? [] : [`${String(expired)} whose invitation has expired`]),
      ].join(', ')}.`,
      quotes: { name: website.name, access },
      data: { slug: website.slug, access },
    };
  },
});

export const giveAccess = tool({
  name: 'give_access',
  title: 'Give somebody access',
  description:
    'Give a person access to a website as viewer (reads) or editor (also edits content), or change the role they have. Somebody unknown is invited by mail; an open invitation is renewed. For ownership: offer_transfer.',
  toolset: 'access',
  operations: ['addClient'],
  callers: ['admin'],
  effect: 'changes',
  idempotent: true,
  openWorld: true,
  input: z.object({
    website: WebsiteArgument,
    email: Email,
    role: Role,
    notify: z.boolean().default(false).describe('A mail to somebody who is known already, too'),
  }),
  output: Access.extend({ slug: z.string() }),
  run: async ({ doorstep, signal }, { website: named, email, role, notify }) => {
    const website = await doorstep.websites.findListed(named, { signal });
    const given = await doorstep.websites.clients.add(website.id, { email, role, ...(notify && { notify }) }, { signal });
    const access = given.kind === 'linked' ? ofLink(given.link) : ofInvitation(given.invitation);
    return {
      text:
        given.kind === 'linked'
          ? `They are ${role} of ${website.slug} from now on.`
          : `They are invited to ${website.slug} as ${role} by mail, until ${dayOf(given.invitation.expiresAt)}.`,
      quotes: { email, name: website.name },
      data: { slug: website.slug, ...access },
    };
  },
});

export const removeAccess = tool({
  name: 'remove_access',
  title: 'Take access away',
  description:
    'Take a person’s access to a website away: their link, their open invitation, an offer of ownership. It holds at once. The owner cannot be removed here.',
  toolset: 'access',
  operations: ['removeClient', 'revokeInvitation', 'cancelTransfer', 'listWebsiteClients', 'listTransfers'],
  callers: ['admin'],
  effect: 'destroys',
  idempotent: true,
  openWorld: false,
  input: z.object({ website: WebsiteArgument, email: Email }),
  output: z.object({ slug: z.string(), removed: z.array(z.string()).describe('link, invitation or offer') }),
  run: async ({ doorstep, signal, confirm }, { website: named, email }) => {
    const website = await doorstep.websites.findListed(named, { signal });
    const { id, slug, name } = website;
    const [{ owner, links, invitations }, offers] = await Promise.all([
      loadAccess(doorstep, website, signal),
      loadOffers(doorstep, website, signal),
    ]);
    const theirs = (one: { readonly email: string }): boolean => one.email.toLowerCase() === email.toLowerCase();
    const { websites } = doorstep;
    const removals = [
      ...links.filter(theirs).map(({ clientId, role, createdAt }) => ({
        what: 'link',
        target: `${clientId} ${createdAt}`,
        effect: `Their access to ${slug} as ${role} ends at once. It can be given back within 30 days.`,
        remove: (options: Options) => websites.clients.remove(id, clientId, options),
      })),
      ...invitations.filter(theirs).map((invitation) => ({
        what: 'invitation',
        target: invitation.id,
        effect: `Their invitation to ${slug} as ${invitation.role ?? 'viewer'} is withdrawn.`,
        remove: (options: Options) => websites.invitations.revoke(id, invitation.id, options),
      })),
      ...offers.filter(theirs).map((offer) => ({
        what: 'offer',
        target: offer.id,
        effect: `The offer of the ownership of ${slug} is taken back.`,
        remove: (options: Options) => websites.transfers.cancel(id, offer.id, options),
      })),
    ];
    if (removals.length === 0)
      throw new ToolFault(
        owner !== undefined && theirs(owner)
          ? `This person owns ${slug}. Offer the ownership to somebody else with offer_transfer, or let an admin take it away in the portal.`
          : `This person has no access to ${slug}, nor an invitation. explain_access lists who has.`,
      );
    for (const { remove } of removals) await remove({ signal, dryRun: true });
    const decision = await confirm({
      effects: removals.map(({ effect }) => effect),
      targets: removals.map(({ target }) => target),
      quotes: { person: email, website: name },
    });
    if (!decision.confirmed) return decision;
    for (const { what, remove } of removals) await remove({ signal, idempotencyKey: decision.idempotencyKey(what) });
    return {
      text: `They have no access to ${slug} any more.`,
      quotes: { email },
      data: { slug, removed: removals.map(({ what }) => what) },
    };
  },
});

interface Options {
  readonly signal: AbortSignal;
  readonly dryRun?: boolean;
  readonly idempotencyKey?: string;
}

export const offerTransfer = tool({
  name: 'offer_transfer',
  title: 'Offer the ownership',
  description:
    'Offer the ownership of a website, and so its billing, to a person. Nothing is charged before they accept on the page at claimUrl; hand that address over, or have it mailed. Says what moves, who pays from when and what is still missing.',
  toolset: 'billing',
  operations: ['offerTransfer', 'getTransferLedger'],
  callers: ['admin'],
  effect: 'adds',
  idempotent: true,
  openWorld: true,
  input: z.object({
    website: WebsiteArgument,
    email: Email,
    price: z.string().optional().describe('Id at the payment provider'),
    mail: z.boolean().default(false).describe('Send them the address'),
  }),
  output: z.object({
    slug: z.string(),
    claimUrl: z.string().optional(),
    expiresAt: z.string(),
    moves: z.array(z.string()),
    pays: z.array(z.string()),
    missing: z.array(z.string()),
  }),
  run: async ({ doorstep, signal }, { website: named, email, price, mail }) => {
    const { id, slug, name } = await doorstep.websites.findListed(named, { signal });
    const offer = await doorstep.websites.transfers.offer(
      id,
      { email, ...(price !== undefined && { priceId: price }), ...(mail && { sendEmail: true }) },
      { signal },
    );
    const ledger = await doorstep.websites.transfers.ledger(id, offer.id, { signal });
    const moves = ledger.moves.map(({ what }) => what);
    const pays = ledger.pays.map(({ who, what }) => `${who}: ${what}`);
    const missing = ledger.missing.map(({ what }) => what);
    return {
      text: [
        `The ownership of ${slug} is offered until ${dayOf(offer.expiresAt)}${mail ? ', and a mail is sent' : ''}.`,
        ...(offer.claimUrl === undefined ? [] : [`They accept at ${offer.claimUrl}`]),
        ...(missing.length === 0 ? [] : [`Still missing: ${counted(missing.length, 'thing')}.`]),
      ].join('\n'),
      quotes: { email, name, moves, pays, missing },
      data: {
        slug,
        ...(offer.claimUrl !== undefined && { claimUrl: offer.claimUrl }),
        expiresAt: offer.expiresAt,
        moves,
        pays,
        missing,
      },
    };
  },
});

export const eraseClient = tool({
  name: 'erase_client',
  title: 'Erase a person',
  description:
    'Erase all personal data of a client, everywhere and for good, the event log included: their access, tokens, invitations and mails end. For requests by law only; to end access use remove_access.',
  toolset: 'access',
  operations: ['eraseClient', 'listClients'],
  callers: ['admin'],
  effect: 'destroys',
  idempotent: true,
  openWorld: false,
  input: z.object({ email: Email }),
  output: z.object({ clientId: z.string() }),
  run: async ({ doorstep, signal, confirm }, { email }) => {
    const [client] = await doorstep.clients.list({ email }, { signal });
    if (client === undefined)
      throw new ToolFault(
        'There is no client with this address. explain_access lists the addresses at a website; an open invitation is withdrawn with remove_access.',
      );
    const { events } = await doorstep.clients.erase(client.id, { signal, dryRun: true });
    const decision = await confirm({
      effects: [
        'All personal data of this person is erased everywhere, for good. It cannot be undone.',
        `Their access, tokens and invitations end (${counted(events.length, 'change')}).`,
      ],
      targets: [client.id],
      quotes: { person: compact({ email: client.email, name: client.name }) },
    });
    if (!decision.confirmed) return decision;
    await doorstep.clients.erase(client.id, { signal, idempotencyKey: decision.idempotencyKey('erase') });
    return { text: `The client ${client.id} is erased.`, data: { clientId: client.id } };
  },
});
