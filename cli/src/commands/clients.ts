import {
  argument,
  choice,
  choiceArgument,
  command,
  defined,
  flag,
  required,
  text,
  UsageError,
  website,
  type Command,
} from '../command.js';
import { at, change, clientIdOf, listing, readList, sorted } from './shared.js';

const client = argument('Id or address of the client', { placeholder: 'client' });
const roles = ['viewer', 'editor'] as const;

/** Commands on the clients of the agency, and on their access to a website. */
export const clientCommands: readonly Command[] = [
  command({
    name: 'clients add',
    summary: 'Give somebody access to a website',
    description: 'A client whom the agency knows has access at once. Anybody else is invited by e-mail.',
    examples: [
      ['As an editor', 'clients add corner-bakery nell@example.com --role editor'],
      ['And tell a client who is known by e-mail', 'clients add corner-bakery nell@example.com --role viewer --notify'],
    ],
    operations: ['addClient'],
    write: true,
    arguments: { website, email: argument('Address of the person', { placeholder: 'email' }) },
    options: {
      role: required(choice(roles, 'Viewers read, editors change content too')),
      notify: flag('Send a mail to a client who is known, too'),
    },
    run: async (context, args, { role, notify }) => {
      const { doorstep, website: found } = await at(context, args.website);
      const body = { email: args.email, role, ...(notify && { notify }) };
      await change(
        context,
        (options) => doorstep.websites.clients.add(found.id, body, options),
        (added) =>
          added.kind === 'linked'
            ? { said: `${added.link.email} has access to ${found.name} as ${added.link.role}.`, value: added.link.clientId }
            : {
                said: `${added.invitation.email} is invited to ${found.name} as ${added.invitation.role ?? role}.`,
                value: added.invitation.id,
              },
      );
    },
  }),
  command({
    name: 'clients set-role',
    summary: 'Change what a client may do at a website',
    examples: [['Make an editor of a viewer', 'clients set-role corner-bakery nell@example.com editor']],
    operations: ['changeClientRole'],
    write: true,
    arguments: { website, client, role: choiceArgument(roles, 'What they may do') },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      const id = await clientIdOf(doorstep, args.client);
      await change(
        context,
        (options) => doorstep.websites.clients.setRole(found.id, id, args.role, options),
        (link) => ({ said: `${link.email} is ${link.role} of ${found.name}.`, value: link.clientId }),
      );
    },
  }),
  command({
    name: 'clients remove',
    summary: 'Take the access to a website from a client, at once',
    examples: [['Take it', 'clients remove corner-bakery nell@example.com']],
    operations: ['removeClient'],
    write: true,
    destructive: true,
    arguments: { website, client },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      const id = await clientIdOf(doorstep, args.client);
      await context.confirm(`Take the access to ${found.name} from ${args.client}?`);
      await change(
        context,
        (options) => doorstep.websites.clients.remove(found.id, id, options),
        () => ({
          said: `${args.client} has no access to ${found.name} any more. To give it back within 30 days: doorstep clients undo-remove ${found.slug} ${args.client}`,
        }),
      );
    },
  }),
  command({
    name: 'clients undo-remove',
    summary: 'Give a client the access back that was taken within the last 30 days',
    examples: [['Give it back', 'clients undo-remove corner-bakery nell@example.com']],
    operations: ['restoreClient'],
    write: true,
    arguments: { website, client },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      const id = await clientIdOf(doorstep, args.client);
      await change(
        context,
        (options) => doorstep.websites.clients.undoRemove(found.id, id, options),
        (link) => ({ said: `${link.email} is ${link.role} of ${found.name} again.`, value: link.clientId }),
      );
    },
  }),
  command({
    name: 'clients list',
    summary: 'List the clients of the agency',
    examples: [
      ['The newest', 'clients list'],
      ['By name', 'clients list --query nell'],
    ],
    operations: ['listClients'],
    options: {
      query: text('Only those whose name or address holds this', { short: 'q', mayBeEmpty: true }),
      sort: sorted('email', 'name', 'createdAt'),
      ...listing,
    },
    run: async (context, _args, options) => {
      const { shortDay } = await import('../views/words.js');
      const doorstep = await context.doorstep();
      const filter = defined({ q: options.query, sort: options.sort as 'name' | undefined });
      const clients = await readList(context, (page) => doorstep.clients.list({ ...filter, ...page }), options);
      const clock = { now: Date.now() };
      await context.output.list(
        clients,
        [
          { heading: 'email', value: ({ email }) => email },
          { heading: 'name', value: ({ name }) => name },
          { heading: 'since', value: ({ createdAt }) => createdAt, shown: ({ createdAt }) => shortDay(createdAt, clock) },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'No clients.',
      );
    },
  }),
  command({
    name: 'clients get',
    summary: 'Show a client',
    examples: [['By address', 'clients get nell@example.com']],
    operations: ['getClient'],
    arguments: { client },
    run: async (context, args) => {
      const { clientLines } = await import('../views/resources.js');
      const doorstep = await context.doorstep();
      const found = await doorstep.clients.get(await clientIdOf(doorstep, args.client));
      await context.output.resource(found, clientLines(found));
    },
  }),
  command({
    name: 'clients create',
    summary: 'Register a client',
    examples: [['With a name', 'clients create nell@example.com --name "Nell Byrne"']],
    operations: ['createClient'],
    write: true,
    arguments: { email: argument('Their address', { placeholder: 'email' }) },
    options: { name: text('Their name') },
    run: async (context, { email }, { name }) => {
      const doorstep = await context.doorstep();
      await change(
        context,
        (options) => doorstep.clients.create(defined({ email, name }), options),
        (created) => ({ said: `${created.email} is a client.`, value: created.id }),
      );
    },
  }),
  command({
    name: 'clients update',
    summary: 'Change the name or the address of a client',
    description: 'A new address holds as soon as its owner has confirmed it by the mail that is sent there.',
    examples: [['Another name', 'clients update nell@example.com --name "Nell Byrne"']],
    operations: ['changeClient'],
    write: true,
    arguments: { client },
    options: { name: text('Their name; "" for none', { mayBeEmpty: true }), email: text('Their address') },
    run: async (context, args, { name, email }) => {
      if (name === undefined && email === undefined) throw new UsageError('Nothing to change: add --name or --email');
      const doorstep = await context.doorstep();
      const id = await clientIdOf(doorstep, args.client);
      await change(
        context,
        (options) => doorstep.clients.update(id, defined({ name: name === '' ? null : name, email }), options),
        (changed) => ({
          said:
            changed.pendingEmail === undefined
              ? `${changed.email} is changed.`
              : `${changed.email} is changed. A mail to ${changed.pendingEmail} asks to confirm that address.`,
          value: changed.id,
        }),
      );
    },
  }),
  command({
    name: 'clients erase',
    summary: 'Erase what is kept about a person, everywhere and for good',
    description:
      'Access, tokens, invitations and personal data go, those in the log and its backups included. It cannot be undone.',
    examples: [
      ['Their address is asked for', 'clients erase nell@example.com'],
      ['Without a terminal', 'clients erase nell@example.com --confirm nell@example.com'],
    ],
    operations: ['eraseClient'],
    write: true,
    destructive: 'typed',
    arguments: { client },
    options: { confirm: text('The address, instead of typing it', { placeholder: 'email' }) },
    run: async (context, args, { confirm }) => {
      const doorstep = await context.doorstep();
      const found = await doorstep.clients.get(await clientIdOf(doorstep, args.client));
      await context.confirmTyped(
        `Type the address of ${found.name ?? found.email} to erase everything about them:`,
        found.email,
        {
          option: 'confirm',
          value: confirm,
        },
      );
      await change(
        context,
        (options) => doorstep.clients.erase(found.id, options),
        () => ({ said: 'The client is erased.' }),
      );
    },
  }),
  command({
    name: 'clients export',
    summary: 'Print everything that is kept about a person, as JSON',
    examples: [['Into a file', 'clients export nell@example.com > nell.json']],
    operations: ['exportClient'],
    arguments: { client },
    run: async (context, args) => {
      const doorstep = await context.doorstep();
      const found = await doorstep.clients.export(await clientIdOf(doorstep, args.client));
      await context.output.json(found);
    },
  }),
];
