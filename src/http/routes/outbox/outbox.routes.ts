import { Type } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Outbox, OutboxMail } from '../../../integrations/email/port.js';
import { readNamed, readPage, totalOf } from '../../paging.js';
import { PersonalAddress } from '../../personalFields.js';
import { route, type Route, type RouteTag } from '../../route.js';

const outboxTag: RouteTag = { name: 'Outbox', description: 'Mails that were sent.' };

const OutboxMailSchema = Type.Object(
  {
    id: Type.String(),
    to: { ...PersonalAddress, description: 'Whom it is to.' },
    subject: Type.String({ description: 'What it is about.', examples: ['You are invited to Corner Bakery'] }),
    text: Type.String(),
    html: Type.String(),
    links: Type.Array(Type.String(), {
      description: 'Web addresses that the mail links to, each once, in order.',
      examples: [['https://doorstep.example.com/app/']],
    }),
    at: Type.String({ format: 'date-time' }),
  },
  { $id: 'OutboxMail', description: 'A mail that was sent.' },
);

/** Mails stored by the embedded e-mail sender; with another sender there is no such route. */
export const outboxRoutes = ({ outbox }: { outbox?: Outbox }): readonly Route[] =>
  outbox === undefined
    ? []
    : [
        route({
          method: 'get',
          path: '/outbox',
          operationId: 'listOutbox',
          summary:
            'List the mails that the embedded e-mail sender stores, newest first, or read some by their ids; not with a read-only token',
          description: 'Only with the embedded e-mail sender. A read-only token is refused: the codes in mails sign people in.',
          tag: outboxTag,
          scope: 'installation',
          access: 'admin',
          paging: { count: true, ids: true },
          query: Type.Object({
            to: Type.Optional(Type.String({ minLength: 1, maxLength: 254, description: 'The recipient.' })),
          }),
          refusals: ['read_only_token_for_mails'],
          answers: { 200: { description: 'A page of mails.', schema: Type.Array(OutboxMailSchema) } },
          answer: async ({ query, caller }) => {
            // With the codes in them, an admin's among them, one signs in and may do everything.
            if (caller.scope === 'read') throw new Refused(refusals.readOnlyTokenForMails());
            const named = await readNamed(query, (id) => outbox.find(id));
            if (named !== null) return { body: named, total: await totalOf(query, () => named.length) };
            const to = query.to === undefined ? {} : { to: query.to };
            const { items, next } = await readPage(
              query,
              ({ id }: OutboxMail) => id,
              (page) => outbox.list({ ...page, ...to }),
            );
            return { body: items, next, total: await totalOf(query, () => outbox.count(to)) };
          },
        }),
      ];
