import { Type } from 'typebox';
import { deliveryDecider } from '../../../commands/delivery/delivery.decider.js';
import { undoDeliveryChange } from '../../../commands/delivery/delivery.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import type { DeliveryBlock as Block } from '../../../events/delivery/delivery.block.js';
import { DeliveryCheckpointStatus, maxDeliveryCheckpoints } from '../../../events/delivery/delivery.events.js';
import { NO_STREAM } from '../../../events/store/eventStore.js';
import type { Hosting } from '../../../integrations/hosting/port.js';
import { utcTime } from '../../../platform/times.js';
import { deliveryProjection } from '../../../projections/delivery/delivery.projection.js';
import { deliveryAt, deliveryHistoryPage, type DeliveryHistoryEntry } from '../../../events/delivery/delivery.history.js';
import { createActorNames, type AddressBook } from '../../../events/actorNames.js';
import { readPage, revisionIn, totalOf } from '../../paging.js';
import { NonBlank } from '../../schemas.js';
import { route, type Answer, type Route, type RouteRequest } from '../../route.js';
import {
  DeliveryBlock,
  DeliveryHistory,
  deliveryTag,
  readReceiptsHeader,
  readReceiptsWords,
  SentCheckpoint,
  toDeliveryBlock,
  toDeliveryHistory,
} from './delivery.resource.js';
import { createPreviews } from './preview.js';
import { deliveryFold, type DeliveryState } from '../../../events/delivery/delivery.state.js';
import { deployedProject } from '../../../projections/provisioning/provisioning.queries.js';

const theBlock = { 200: { description: 'The delivery block.', schema: DeliveryBlock } };

type Asked = Pick<RouteRequest, 'reader' | 'caller' | 'website'>;

/**
 * The delivery block of a website: read, set up and replaced, a status set, its history, a change
 * undone.
 */
export const deliveryRoutes = ({
  engine,
  hosting,
  readReceipts,
  identityProvider,
}: {
  engine: Engine;
  hosting: Pick<Hosting, 'provider' | 'latestDeployment'>;
  readReceipts: boolean;
  identityProvider: AddressBook | null;
}): readonly Route[] => {
  const headers = readReceiptsHeader(readReceipts);
  const previewOf = createPreviews({ hosting, clock: engine.clock });

  const toAnswer = async (block: Block | null, revision: bigint, { reader, caller, website }: Asked): Promise<Answer> => {
    if (block === null) throw new Refused(refusals.deliveryNotSetUp(website.website.id));
    const preview = await previewOf(block, () => deployedProject(reader, website.website), caller.role);
    return { body: toDeliveryBlock(block, revision, caller.role, preview), revision };
  };

  const answerWritten = (request: Asked, { state, revision }: { state: DeliveryState; revision: bigint }): Promise<Answer> =>
    toAnswer(state.stage === 'setUp' ? state.block : null, revision, request);

  /**
   * As it was at `at`, for whoever may read the block today: what was hidden from clients then is
   * hidden, and what was shown is shown. What the hosting provider served then is not in the log, so
   * that only an override is a preview.
   */
  const answerAt = async (at: string, { caller, website }: Asked): Promise<Answer> => {
    const then = await deliveryAt(engine, website.website.id, utcTime(at));
    if (then === null) throw new Refused(refusals.deliveryNotSetUp(website.website.id));
    const { block, revision } = then;
    const { previewUrlOverride, showPreviewUrl } = block;
    const isSeen = previewUrlOverride !== undefined && (showPreviewUrl || caller.role === 'admin');
    const preview = isSeen ? { previewUrl: previewUrlOverride } : {};
    return { body: toDeliveryBlock(block, revision, caller.role, preview), revision };
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/delivery',
      operationId: 'getDelivery',
      summary: 'Read the delivery block, or what it was at a time',
      description:
        'Clients never see `previewUrlOverride`, and `previewUrl` only when `showPreviewUrl` is true. When the hosting provider is late, the block comes without it, with `previewUrlUnavailable`. With `at`, what clients saw then is what they see, whether or not they had access then.',
      tag: deliveryTag,
      scope: 'website',
      access: 'members',
      query: Type.Object({
        at: Type.Optional(Type.String({ format: 'date-time', description: 'The block as it was then.' })),
      }),
      refusals: ['delivery_not_set_up'],
      answers: { 200: { ...theBlock[200], headers: { 'Read-Receipts': readReceiptsWords } } },
      answer: async (request) => {
        const { at } = request.query;
        if (at !== undefined) return { headers, ...(await answerAt(at, request)) };
        const { document, revision } = await request.reader.read(deliveryProjection, request.params.id);
        return { headers, ...(await toAnswer(document, revision, request)) };
      },
    }),

    route({
      method: 'put',
      path: '/websites/:id/delivery',
      operationId: 'replaceDelivery',
      summary: 'Set the delivery block up, or replace it',
      description:
        'The first call sets the block up: leave out anything to get the defaults, an ETA in 30 days and six checkpoints. Later ones must carry `estimatedCompletionAt` and `showPreviewUrl`; `checkpoints` replaces the whole list, or keeps it when it is left out.',
      tag: deliveryTag,
      example: {
        body: {
          estimatedCompletionAt: '2030-02-28T12:00:00.000Z',
          showPreviewUrl: true,
          checkpoints: [
            { id: 'kickoff', label: 'Kickoff', order: 10, status: 'done' },
            { id: 'launch', label: 'Launch', order: 20, status: 'pending', dueAt: '2030-02-28T12:00:00.000Z' },
          ],
        },
      },
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      body: Type.Object(
        {
          estimatedCompletionAt: Type.Optional(
            Type.String({
              format: 'date-time',
              description: 'The ETA. Default at set-up: 30 days later; required from then on.',
            }),
          ),
          showPreviewUrl: Type.Optional(
            Type.Boolean({ description: 'Whether clients see the preview. Default at set-up: false; required from then on.' }),
          ),
          previewUrlOverride: Type.Optional(
            Type.String({ maxLength: 2048, description: 'An `http` or `https` URL; empty to unset it. Left out: kept.' }),
          ),
          checkpoints: Type.Optional(
            Type.Array(SentCheckpoint, {
              maxItems: maxDeliveryCheckpoints,
              description: 'Replaces the whole list. Left out: kept; at set-up, the six default checkpoints.',
            }),
          ),
          reason: Type.Optional(
            NonBlank(1000, {
              description: 'Why; listed in the history, also when the block stays as it is.',
            }),
          ),
          reasonVisible: Type.Optional(Type.Boolean({ default: false, description: 'Whether clients may see the reason.' })),
        },
        { additionalProperties: false },
      ),
      answers: theBlock,
      act: ({ params, body, context, expectation }, acting) => {
        const command = {
          type: 'ReplaceDelivery',
          ...body,
          websiteId: params.id,
          estimatedCompletionAt: body.estimatedCompletionAt === undefined ? undefined : utcTime(body.estimatedCompletionAt),
          checkpoints: body.checkpoints?.map(({ completedAt: _, dueAt, ...checkpoint }) => ({
            ...checkpoint,
            ...(dueAt !== undefined && { dueAt: utcTime(dueAt) }),
          })),
        } as const;
        return acting.handle(deliveryDecider, command, context, expectation);
      },
      answer: answerWritten,
    }),

    route({
      method: 'put',
      path: '/websites/:id/delivery/checkpoints/:checkpointId',
      operationId: 'setCheckpointStatus',
      summary: 'Set the status of a checkpoint',
      description: '`completedAt` is set when the status becomes `done`, and cleared when it is `done` no more.',
      tag: deliveryTag,
      example: { body: { status: 'in_progress' } },
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      params: { checkpointId: SentCheckpoint.properties.id },
      body: Type.Object({ status: DeliveryCheckpointStatus }, { additionalProperties: false }),
      refusals: ['delivery_not_set_up', 'delivery_checkpoint_not_found'],
      answers: theBlock,
      act: ({ params, body, context, expectation }, acting) => {
        const command = {
          type: 'SetCheckpointStatus',
          websiteId: params.id,
          checkpointId: params.checkpointId,
          ...body,
        } as const;
        return acting.handle(deliveryDecider, command, context, expectation);
      },
      answer: answerWritten,
    }),

    route({
      method: 'get',
      path: '/websites/:id/delivery/history',
      operationId: 'getDeliveryHistory',
      summary: 'List every change of the delivery block, oldest first',
      description: 'Each change with who made it, by which way, and what every part was before and is now.',
      tag: deliveryTag,
      scope: 'website',
      access: 'admin',
      paging: { count: true },
      answers: { 200: { description: 'A page of changes.', schema: DeliveryHistory } },
      answer: async ({ params, query }) => {
        const { items, next } = await readPage(
          query,
          ({ revision }: DeliveryHistoryEntry) => String(revision),
          ({ after, limit }) =>
            deliveryHistoryPage(engine, params.id, { after: after === undefined ? NO_STREAM : revisionIn(after), limit }),
        );
        const { toActor } = createActorNames(engine, { readerRole: 'admin', book: identityProvider });
        return {
          body: await toDeliveryHistory(toActor, items),
          next,
          // Each event is a change.
          total: await totalOf(
            query,
            async () => Number((await engine.state(deliveryFold, { websiteId: params.id })).revision) + 1,
          ),
        };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/delivery/undo',
      operationId: 'undoDeliveryChange',
      summary: 'Bring the delivery block back to what it was before a change',
      description:
        'The block becomes what it was before that change, those after it undone with it. The undo is itself a change.',
      tag: deliveryTag,
      example: { body: { revision: 1 } },
      scope: 'website',
      access: 'admin',
      ifMatch: 'honoured',
      body: Type.Object(
        {
          revision: Type.Integer({
            minimum: 0,
            description:
              'Of the change, as listed in the history; changes after it are undone with it. The set-up cannot be undone.',
          }),
        },
        { additionalProperties: false },
      ),
      refusals: ['delivery_not_set_up'],
      answers: theBlock,
      act: ({ params, body, context, expectation }, acting) =>
        undoDeliveryChange(acting, params.id, body.revision, context, expectation),
      answer: answerWritten,
    }),
  ];
};
