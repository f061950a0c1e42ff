import { Type } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { isoTime } from '../../../platform/clock.js';
import { deliveryProjection } from '../../../projections/delivery/delivery.projection.js';
import { minCases } from '../../../projections/forecast/forecast.js';
import { forecastOf, maxCases } from '../../../projections/forecast/forecast.queries.js';
import type { Reader } from '../../../projections/reader.js';
import { route, type Route } from '../../route.js';
import { deliveryTag } from '../delivery/delivery.resource.js';

const Time = (description: string) => Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

const Forecast = Type.Object(
  {
    checkpoints: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'Id of the checkpoint.', examples: ['qa'] }),
          medianAt: Time('By when it is done if it goes as in half of the past deliveries; `null` with too few cases.'),
          p90At: Time('By when it is done if it goes as in nine of ten; `null` with too few cases.'),
          cases: Type.Integer({ description: 'How many past deliveries this is from.', examples: [12] }),
          tooFew: Type.Optional(
            Type.Boolean({ description: `True with fewer than ${String(minCases)} cases: then the times are \`null\`.` }),
          ),
        },
        { $id: 'CheckpointForecast', description: 'When an open checkpoint will be done.' },
      ),
      { description: 'The open ones, by `order`.' },
    ),
    etaHeldInPast: Type.Union([Type.Number(), Type.Null()], {
      description: `The part of the finished deliveries, 0 to 1, that were done by the ETA that stood when their first checkpoint was done. \`null\` with fewer than ${String(minCases)}.`,
      examples: [0.75],
    }),
    finished: Type.Integer({
      description: `How many finished deliveries there are to compare with: the newest, at most ${String(maxCases)}.`,
      examples: [12],
    }),
    tooFew: Type.Optional(Type.Boolean({ description: `True with fewer than ${String(minCases)} finished deliveries.` })),
  },
  { $id: 'DeliveryForecast', description: 'What past deliveries say of when this one is done.' },
);

/** When the open checkpoints of a delivery block will be done, as far as past deliveries tell. */
export const forecastRoutes = ({ engine, reader }: { engine: Engine; reader: Reader }): readonly Route[] => [
  route({
    method: 'get',
    path: '/websites/:id/delivery/forecast',
    operationId: 'getDeliveryForecast',
    summary: 'Forecast the open checkpoints from past deliveries',
    description: `Of each open checkpoint, how long past deliveries took from where this one is (the last of the checkpoints that are done here; before the first, the set-up) is counted from now. The newest ${String(maxCases)} finished deliveries of this installation are compared, by the ids of checkpoints; for those that fewer than ${String(minCases)} of them had, the newest that have done one of these.`,
    tag: deliveryTag,
    scope: 'website',
    access: 'admin',
    refusals: ['delivery_not_set_up'],
    answers: { 200: { description: 'The forecast.', schema: Forecast } },
    answer: async ({ params }) => {
      const { document } = await reader.read(deliveryProjection, params.id);
      if (document === null) throw new Refused(refusals.deliveryNotSetUp(params.id));
      const { checkpoints, finished, etasHeld } = await forecastOf(reader, document);
      const now = engine.clock.now();
      const isEnough = finished >= minCases;
      return {
        body: {
          checkpoints: checkpoints.map(({ id, cases, medianMs, p90Ms }) => ({
            id,
            medianAt: medianMs === undefined ? null : isoTime(now + medianMs),
            p90At: p90Ms === undefined ? null : isoTime(now + p90Ms),
            cases,
            ...(cases < minCases && { tooFew: true }),
          })),
          etaHeldInPast: isEnough ? etasHeld / finished : null,
          finished,
          ...(!isEnough && { tooFew: true }),
        },
      };
    },
  }),
];
