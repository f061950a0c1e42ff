import { argument, command, defined, flag, Refusal, text, website, type Command } from '../command.js';
import type { Doorstep, Invitation, Website, WebsiteClientLink } from '@doorstep/sdk';
import { at, change, clientIdOf, listing, readList } from './shared.js';

const invitation = argument('Id of the invitation, or the address it went to', { placeholder: 'invitation' });
const transfer = argument('Id of the transfer, or the address it went to', { placeholder: 'transfer' });

const invitationIdOf = async (doorstep: Doorstep, websiteId: string, idOrEmail: string): Promise<string> => {
  if (!idOrEmail.includes('@')) return idOrEmail;
  for await (const { invitations } of doorstep.websites.clients.list(websiteId, { limit: 200 }).pages()) {
    const found = invitations.find(({ email }) => email.toLowerCase() === idOrEmail.toLowerCase());
    if (found !== undefined) return found.id;
  }
  throw new Refusal(`Nobody is invited by the address ${idOrEmail}.`);
};

/** By an address, the one that is open, or the newest one however it stands. @throws Refusal when there is none */
const transferIdOf = async (
  doorstep: Doorstep,
  { id: websiteId, name }: Website,
  idOrEmail: string,
  which: 'open' | 'newest',
): Promise<string> => {
  if (!idOrEmail.includes('@')) return idOrEmail;
  for await (const { id, email, status } of doorstep.websites.transfers.list(websiteId, { limit: 200 }))
    if (email.toLowerCase() === idOrEmail.toLowerCase() && (which === 'newest' || status === 'pending')) return id;
  throw new Refusal(
    which === 'open'
      ? `No transfer to ${idOrEmail} is open.`
      : `${name} was never offered to ${idOrEmail}, or the offer was taken back.`,
  );
};

/** Commands on who may do what at a website: access, invitations, transfers. */
export const accessCommands: readonly Command[] = [
  command({
    name: 'access list',
    summary: 'List who has access to a website: owner, linked clients, open invitations',
    examples: [['Who has access?', 'access list corner-bakery']],
    operations: ['listWebsiteClients'],
    arguments: { website },
    run: async (context, args) => {
      const { accessRows } = await import('../views/resources.js');
      const { doorstep, website: found } = await at(context, args.website);
      let first: Awaited<ReturnType<typeof doorstep.websites.clients.list>> | undefined;
      const links: WebsiteClientLink[] = [];
      // The newest ones come with every page.
      const invitations = new Map<string, Invitation>();
      for await (const page of doorstep.websites.clients.list(found.id, { limit: 200 }).pages()) {
        first ??= page;
        links.push(...page.links);
        for (const each of page.invitations) invitations.set(each.id, each);
      }
      if (first === undefined) return;
      const whole = { ...first, links, invitations: [...invitations.values()] };
      if (context.output.isJson) {
        await context.output.json(whole);
        return;
      }
      await context.output.list(
        accessRows(whole),
        [
          { heading: 'email', value: ({ email }) => email },
          { heading: 'name', value: ({ name }) => name },
          { heading: 'as', value: ({ as }) => as, style: (shown, style, { open }) => (open ? style.yellow(shown) : shown) },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        `Nobody has access to ${found.name} but admins.`,
      );
    },
  }),
  command({
    name: 'access get',
    summary: 'Show the access of a linked client to a website',
    examples: [['By the address', 'access get corner-bakery nell@example.com']],
    operations: ['getClientLink'],
    arguments: { website, client: argument('Id or address of the client', { placeholder: 'client' }) },
    run: async (context, args) => {
      const { linkLines } = await import('../views/resources.js');
      const { doorstep, website: found } = await at(context, args.website);
      const link = await doorstep.websites.clients.get(found.id, await clientIdOf(doorstep, args.client));
      await context.output.resource(link, linkLines(link));
    },
  }),
  command({
    name: 'access explain',
    summary: 'Say what a person may do at a website, and by which rule',
    examples: [
      ['One person', 'access explain corner-bakery nell@example.com'],
      ['Every operation with its rule', 'access explain corner-bakery nell@example.com --operations'],
    ],
    operations: ['explainAccess'],
    arguments: {
      website,
      person: argument('Their address, or their subject at the identity provider', { placeholder: 'person' }),
    },
    options: { operations: flag('Every operation, not only the areas') },
    run: async (context, args, { operations }) => {
      const { accessLines } = await import('../views/access.js');
      const { drawingFor } = await import('../views/drawing.js');
      const { doorstep, website: found } = await at(context, args.website);
      const who = args.person.includes('@') ? { email: args.person } : { subject: args.person };
      const explained = await doorstep.websites.access.explain(found.id, who);
      await context.output.view(
        explained,
        () => accessLines(found.name, explained, drawingFor(context.output), operations),
        () =>
          explained.areas.flatMap(({ area, operations: all }) =>
            all.map((one) => [area, one.operationId, one.allowed, one.rule, one.why]),
          ),
      );
    },
  }),
  command({
    name: 'invitations get',
    summary: 'Show an invitation to you',
    examples: [['By the id in its link', 'invitations get <id>']],
    operations: ['getInvitation'],
    arguments: { invitation: argument('Id of the invitation', { placeholder: 'id' }) },
    run: async (context, args) => {
      const { invitationLines } = await import('../views/resources.js');
      const found = await (await context.doorstep()).invitations.get(args.invitation);
      await context.output.resource(found, invitationLines(found));
    },
  }),
  command({
    name: 'invitations claim',
    summary: 'Accept an invitation to you',
    examples: [['By the id in its link', 'invitations claim <id>']],
    operations: ['claimInvitation'],
    write: true,
    arguments: { invitation: argument('Id of the invitation', { placeholder: 'id' }) },
    run: async (context, args) => {
      const doorstep = await context.doorstep();
      await change(
        context,
        (options) => doorstep.invitations.claim(args.invitation, options),
        ({ invitation: { websiteId, websiteName } }) => ({
          said: `You have access to ${websiteName ?? `website ${websiteId}`}.`,
          value: websiteId,
        }),
      );
    },
  }),
  command({
    name: 'invitations renew',
    summary: 'Ask the agency to renew an invitation to you that has expired',
    examples: [['By the id in its link', 'invitations renew <id>']],
    operations: ['requestInvitationRenewal'],
    write: true,
    arguments: { invitation: argument('Id of the invitation', { placeholder: 'id' }) },
    run: async (context, args) => {
      const doorstep = await context.doorstep();
      await change(
        context,
        (options) => doorstep.invitations.requestRenewal(args.invitation, options),
        ({ id }) => ({ said: 'The agency is asked by mail.', value: id }),
      );
    },
  }),
  command({
    name: 'invitations resend',
    summary: 'Send an invitation again; it is valid for another 30 days',
    examples: [['By the address', 'invitations resend corner-bakery nell@example.com']],
    operations: ['resendInvitation'],
    write: true,
    arguments: { website, invitation },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      const id = await invitationIdOf(doorstep, found.id, args.invitation);
      await change(
        context,
        (options) => doorstep.websites.invitations.resend(found.id, id, options),
        ({ email }) => ({ said: `The invitation is sent to ${email} again.`, value: id }),
      );
    },
  }),
  command({
    name: 'invitations revoke',
    summary: 'Take an invitation back',
    examples: [['By the address', 'invitations revoke corner-bakery nell@example.com']],
    operations: ['revokeInvitation'],
    write: true,
    destructive: true,
    arguments: { website, invitation },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      const id = await invitationIdOf(doorstep, found.id, args.invitation);
      await context.confirm(`Take the invitation of ${args.invitation} to ${found.name} back?`);
      await change(
        context,
        (options) => doorstep.websites.invitations.revoke(found.id, id, options),
        () => ({ said: 'The invitation is taken back.' }),
      );
    },
  }),
  command({
    name: 'transfers offer',
    summary: 'Offer a website to the person who is to own it and pay for it',
    description: 'They become owner when they accept. No mail is sent without --send-email: hand the address over yourself.',
    examples: [
      ['Print the address for them', 'transfers offer corner-bakery nell@example.com'],
      ['By mail, at a price', 'transfers offer corner-bakery nell@example.com --price price_123 --send-email'],
    ],
    operations: ['offerTransfer'],
    write: true,
    arguments: { website, email: argument('Their address', { placeholder: 'email' }) },
    options: {
      price: text('Price at the payment provider', { placeholder: 'id' }),
      subscription: text('A subscription that exists, instead of a new one', { placeholder: 'id' }),
      sendEmail: flag('Send them a mail'),
    },
    run: async (context, args, { price, subscription, sendEmail }) => {
      const { doorstep, website: found } = await at(context, args.website);
      const body = defined({ email: args.email, priceId: price, subscription, sendEmail: sendEmail ? true : undefined });
      const offered = await change(
        context,
        (options) => doorstep.websites.transfers.offer(found.id, body, options),
        ({ id, email, claimUrl }) => ({
          said: `${found.name} is offered to ${email}.${claimUrl === undefined ? '' : ' They accept at:'}`,
          value: claimUrl ?? id,
        }),
      );
      if (offered?.claimUrl !== undefined && context.output.isTerminal && !context.output.isJson)
        context.output.lines([offered.claimUrl]);
    },
  }),
  command({
    name: 'transfers list',
    summary: 'List the transfers of a website',
    examples: [['All that were offered', 'transfers list corner-bakery']],
    operations: ['listTransfers'],
    arguments: { website },
    options: listing,
    run: async (context, args, options) => {
      const { shortDay } = await import('../views/words.js');
      const { doorstep, website: found } = await at(context, args.website);
      const transfers = await readList(context, (page) => doorstep.websites.transfers.list(found.id, page), options);
      const clock = { now: Date.now() };
      await context.output.list(
        transfers,
        [
          { heading: 'email', value: ({ email }) => email },
          { heading: 'status', value: ({ status }) => status },
          { heading: 'offered', value: ({ createdAt }) => createdAt, shown: ({ createdAt }) => shortDay(createdAt, clock) },
          { heading: 'expires', value: ({ expiresAt }) => expiresAt, shown: ({ expiresAt }) => shortDay(expiresAt, clock) },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        `No transfers of ${found.name}. Offers that were taken back are not listed.`,
      );
    },
  }),
  command({
    name: 'transfers get',
    summary: 'Show a transfer of a website',
    examples: [['By the address', 'transfers get corner-bakery nell@example.com']],
    operations: ['getTransfer'],
    arguments: { website, transfer },
    run: async (context, args) => {
      const { invitationLines } = await import('../views/resources.js');
      const { doorstep, website: found } = await at(context, args.website);
      const one = await doorstep.websites.transfers.get(found.id, await transferIdOf(doorstep, found, args.transfer, 'newest'));
      await context.output.resource(one, [...invitationLines(one), ['address', one.claimUrl]]);
    },
  }),
  command({
    name: 'transfers cancel',
    summary: 'Take the offer of a website back',
    examples: [['By the address', 'transfers cancel corner-bakery nell@example.com']],
    operations: ['cancelTransfer'],
    write: true,
    destructive: true,
    arguments: { website, transfer },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      const id = await transferIdOf(doorstep, found, args.transfer, 'open');
      await context.confirm(`Take the offer of ${found.name} to ${args.transfer} back?`);
      await change(
        context,
        (options) => doorstep.websites.transfers.cancel(found.id, id, options),
        () => ({ said: 'The offer is taken back.' }),
      );
    },
  }),
  command({
    name: 'transfers ledger',
    summary: 'Show what a transfer moves, what stays, and who pays from when',
    examples: [['By the address', 'transfers ledger corner-bakery nell@example.com']],
    operations: ['getTransferLedger'],
    arguments: { website, transfer },
    run: async (context, args) => {
      const { ledgerLines } = await import('../views/access.js');
      const { drawingFor } = await import('../views/drawing.js');
      const { doorstep, website: found } = await at(context, args.website);
      const id = await transferIdOf(doorstep, found, args.transfer, 'newest');
      const ledger = await doorstep.websites.transfers.ledger(found.id, id);
      await context.output.view(
        ledger,
        () => ledgerLines(found.name, ledger, drawingFor(context.output)),
        () => [
          ...ledger.moves.map(({ item, what, doneAt }) => ['moves', item, what, doneAt]),
          ...ledger.stays.map(({ item, what }) => ['stays', item, what]),
          ...ledger.pays.map(({ who, what, from, until }) => ['pays', who, what, from, until]),
          ...ledger.missing.map(({ item, what }) => ['missing', item, what]),
        ],
      );
    },
  }),
];
