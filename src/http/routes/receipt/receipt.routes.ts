import { Type } from 'typebox';
import { recordLook } from '../../../commands/receipt/receipt.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { createActorNames, type AddressBook } from '../../../events/actorNames.js';
import { deliveryFold } from '../../../events/delivery/delivery.state.js';
import type { VisibleChange } from '../../../events/delivery/delivery.steps.js';
import { countVisibleChanges, visibleChanges } from '../../../events/delivery/delivery.visible.js';
import { NO_STREAM } from '../../../events/store/eventStore.js';
import { lastLook } from '../../../events/receipt/receipt.looks.js';
import { earlierReceiptFold, receiptFold } from '../../../events/receipt/receipt.state.js';
import type { Reader } from '../../../projections/reader.js';
import { countReceipts, listReceipts } from '../../../projections/receipt/receipt.queries.js';
import type { ReceiptDocument } from '../../../projections/receipt/receipt.projection.js';
import type { ListedDocument } from '../../../projections/runner/readList.js';
import type { Caller } from '../../auth/caller.js';
import { notACursor, placeIn, readPage, totalOf } from '../../paging.js';
import { route, type Route } from '../../route.js';
import { deliveryTag, readReceiptsHeader, readReceiptsWords } from '../delivery/delivery.resource.js';
import { DeliveryReaders, toDeliveryReader, VisibleChanges } from './receipt.resource.js';

type Listed = ListedDocument<ReceiptDocument>;

/** The change that a page has ended with, and after which revision the list begins, which may be none (-1). */
const changeAt = (place: string): { readonly revision: bigint; readonly since: bigint } => {
  const [, revision, since] = /^(\d{1,15})\.(-?\d{1,15})$/.exec(place) ?? [];
  if (revision === undefined || since === undefined) throw notACursor();
  return { revision: BigInt(revision), since: BigInt(since) };
};

/** What of delivery blocks is seen by whom: the changes since a person last looked, and who did. */
export const receiptRoutes = ({
  engine,
  reader,
  readReceipts,
  identityProvider,
}: {
  engine: Engine;
  reader: Reader;
  readReceipts: boolean;
  identityProvider: AddressBook | null;
}): readonly Route[] => {
  const headers = readReceiptsHeader(readReceipts);

  const readerIdOf = ({ clientId, subject }: Caller): string => clientId ?? engine.blindIndex(subject);

  /** The highest revision that the caller saw. */
  const lastSeen = async (websiteId: string, caller: Caller): Promise<bigint> => {
    if (!readReceipts) throw new Refused(refusals.invalidQuery('since', 'is required while read receipts are off'));
    const key = { websiteId, readerId: readerIdOf(caller) };
    const [{ state }, earlier] = await Promise.all([engine.state(receiptFold, key), engine.state(earlierReceiptFold, key)]);
    const seen = lastLook(earlier.state.get(key.readerId), state.looks);
    return seen === undefined ? NO_STREAM : BigInt(seen.revision);
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/delivery/changes',
      operationId: 'listDeliveryChanges',
      summary: 'List what changed since a revision, or since the caller last looked',
      description:
        'Newest first, as clients may see it: without the override of the preview, also where it is shown, and with the reasons that are meant for them. Without `since`, what changed after the revision that the caller last reported by `POST /websites/:id/delivery/seen`; a caller who never did gets every change, the set-up included.',
      tag: deliveryTag,
      scope: 'website',
      access: 'members',
      paging: { count: true },
      query: Type.Object({
        since: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: 'A revision of the block: what changed after it. Required while read receipts are off.',
            examples: [0],
          }),
        ),
      }),
      refusals: ['delivery_not_set_up'],
      answers: {
        200: { description: 'A page of changes.', schema: VisibleChanges, headers: { 'Read-Receipts': readReceiptsWords } },
      },
      answer: async ({ params, query, caller }) => {
        const { state } = await engine.state(deliveryFold, { websiteId: params.id });
        if (state.stage === 'notSetUp') throw new Refused(refusals.deliveryNotSetUp(params.id));
        const place = query.cursor === undefined ? undefined : changeAt(placeIn(query.cursor));
        // Of the first page: the caller may report what they see before they have read the others.
        const last = async (): Promise<bigint> => place?.since ?? (await lastSeen(params.id, caller));
        const since = query.since === undefined ? await last() : BigInt(query.since);
        const { items, next } = await readPage(
          query,
          ({ revision }: VisibleChange) => `${String(revision)}.${String(since)}`,
          ({ limit }) => visibleChanges(engine, params.id, { after: since, ...(place && { before: place.revision }), limit }),
        );
        const body = items.map(({ revision, ...change }) => ({ revision: Number(revision), ...change }));
        const total = await totalOf(query, () => countVisibleChanges(engine, params.id, since));
        return { body, headers, next, total };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/delivery/seen',
      operationId: 'markDeliverySeen',
      summary: 'Report that the caller looked at the delivery block',
      description:
        'A portal calls it when it shows the block. Admins see who looked at which revision, and when, to the minute. While read receipts are off, nothing is kept.',
      tag: deliveryTag,
      example: { body: { revision: 0 } },
      scope: 'website',
      access: 'members',
      body: Type.Object(
        { revision: Type.Integer({ minimum: 0, description: 'Of the block that was shown.' }) },
        { additionalProperties: false },
      ),
      refusals: ['delivery_not_set_up'],
      answers: { 204: { description: 'Kept.', headers: { 'Read-Receipts': readReceiptsWords } } },
      act: async ({ params, body, caller, context }, acting) => {
        if (!readReceipts) return;
        const { clientId } = caller;
        const input = { websiteId: params.id, readerId: readerIdOf(caller), clientId, revision: body.revision };
        await recordLook(acting, input, context);
      },
      answer: () => Promise.resolve({ status: 204, headers }),
    }),

    route({
      method: 'get',
      path: '/websites/:id/delivery/readers',
      operationId: 'listDeliveryReaders',
      summary: 'List who looked at the delivery block',
      description:
        'One entry for each person, with the revisions that they saw, first and last time. Empty while read receipts are off.',
      tag: deliveryTag,
      scope: 'website',
      access: 'admin',
      paging: { count: true },
      answers: {
        200: { description: 'A page of readers.', schema: DeliveryReaders, headers: { 'Read-Receipts': readReceiptsWords } },
      },
      answer: async ({ params, query }) => {
        const { items, next } = await readPage(
          query,
          ({ id }: Listed) => id,
          (page) => (readReceipts ? listReceipts(reader, params.id, page) : Promise.resolve([])),
        );
        const { toActor } = createActorNames(engine, { readerRole: 'admin', book: identityProvider });
        const body = await Promise.all(items.map(({ body: receipt }) => toDeliveryReader(engine, toActor, receipt)));
        const total = await totalOf(query, () => (readReceipts ? countReceipts(reader, params.id) : 0));
        return { body, headers, next, total };
      },
    }),
  ];
};
