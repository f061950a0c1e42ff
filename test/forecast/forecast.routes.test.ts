import { beforeAll, describe, expect, test } from '@jest/globals';
import { startDeliveryApi, type DeliveryApi, type DeliveryCalls } from '../support/deliveryApi.js';
import { createShiftedClock } from '../support/shiftedClock.js';

interface Forecast {
  readonly checkpoints: readonly {
    readonly id: string;
    readonly medianAt: string | null;
    readonly p90At: string | null;
    readonly cases: number;
    readonly tooFew?: true;
  }[];
  readonly etaHeldInPast: number | null;
  readonly finished: number;
  readonly tooFew?: true;
}

const day = 24 * 3_600_000;

/** An installation of its own: a forecast is from all of its deliveries. */
const start = async () => {
  const clock = createShiftedClock();
  const started: DeliveryApi = await startDeliveryApi({ clock });

  const forecastOf = async (websiteId: string): Promise<Forecast> => {
    const answer = await started.api.call('GET', `/websites/${websiteId}/delivery/forecast`, { token: started.token });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.body as Forecast;
  };

  const open = (ids: readonly string[]) => ids.map((id, index) => ({ id, label: id, order: index, status: 'pending' }));

  /** Sets a delivery up, with its ETA in so many days. */
  const begin = (ids: readonly string[], etaDays: number): Promise<DeliveryCalls> =>
    started.newDelivery({
      estimatedCompletionAt: new Date(clock.now() + etaDays * day).toISOString(),
      showPreviewUrl: false,
      checkpoints: open(ids),
    });

  /** A delivery whose checkpoints were done so many days after the one before. */
  const deliver = async (days: Readonly<Record<string, number>>, etaDays = 100): Promise<void> => {
    const delivery = await begin(Object.keys(days), etaDays);
    for (const [id, wait] of Object.entries(days)) {
      clock.shift(wait * day);
      expect((await delivery.setStatus(id, 'done')).status).toBe(200);
    }
  };
  return { started, clock, forecastOf, begin, deliver };
};

/** Days from now, to the hour. */
const daysUntil = (time: string | null | undefined, now: number): number => {
  if (time === null || time === undefined) throw new Error('there is no time');
  return Math.round(((Date.parse(time) - now) / day) * 24) / 24;
};

describe('GET /websites/:id/delivery/forecast', () => {
  let parts: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    parts = await start();
  });

  test('200: too few, until five deliveries were finished; then the median and what nine of ten did not exceed', async () => {
    const { forecastOf, begin, deliver, clock } = parts;
    const { websiteId, ...delivery } = await begin(['design', 'qa', 'custom'], 30);
    for (const days of [1, 2, 3, 4]) await deliver({ design: days, qa: 2 * days }, 8);
    expect(await forecastOf(websiteId)).toStrictEqual({
      checkpoints: [
        { id: 'design', medianAt: null, p90At: null, cases: 4, tooFew: true },
        { id: 'qa', medianAt: null, p90At: null, cases: 4, tooFew: true },
        { id: 'custom', medianAt: null, p90At: null, cases: 0, tooFew: true },
      ],
      etaHeldInPast: null,
      finished: 4,
      tooFew: true,
    });

    await deliver({ design: 5, qa: 10 }, 8);
    const forecast = await forecastOf(websiteId);
    const now = clock.now();
    expect(forecast.checkpoints.map(({ id, cases, tooFew }) => [id, cases, tooFew])).toEqual([
      ['design', 5, undefined],
      ['qa', 5, undefined],
      ['custom', 0, true],
    ]);
    const [design, qa] = forecast.checkpoints;
    expect([design?.medianAt, design?.p90At, qa?.medianAt, qa?.p90At].map((time) => daysUntil(time, now))).toEqual([3, 5, 9, 15]);
    // Two of five took longer than eight days in all.
    expect([forecast.finished, forecast.etaHeldInPast, forecast.tooFew]).toEqual([5, 0.4, undefined]);

    // From where this one is: what is done takes no time any more.
    await delivery.setStatus('design', 'done');
    const after = await forecastOf(websiteId);
    expect(after.checkpoints.map(({ id }) => id)).toEqual(['qa', 'custom']);
    expect(daysUntil(after.checkpoints[0]?.medianAt, clock.now())).toBe(6);
    expect(daysUntil(after.checkpoints[0]?.p90At, clock.now())).toBe(10);

    // One that is finished itself has nothing to be forecast, and is no case of its own.
    for (const id of ['qa', 'custom']) await delivery.setStatus(id, 'done');
    expect(await forecastOf(websiteId)).toMatchObject({ checkpoints: [], finished: 5 });
  });

  test('a delivery that others did not finish yet counts for what was done in it', async () => {
    const { forecastOf, begin, clock } = parts;
    const { websiteId } = await begin(['kickoff'], 30);
    for (const days of [1, 1, 1, 1, 1]) {
      const other = await begin(['kickoff', 'launch'], 30);
      clock.shift(days * day);
      await other.setStatus('kickoff', 'done');
    }
    const { checkpoints } = await forecastOf(websiteId);
    expect(checkpoints).toMatchObject([{ id: 'kickoff', cases: 5 }]);
    expect(daysUntil(checkpoints[0]?.medianAt, clock.now())).toBe(1);
  });

  test('before the set-up: 404', async () => {
    const { started } = parts;
    const { websiteId } = await started.newWebsite();
    expect(await started.api.call('GET', `/websites/${websiteId}/delivery/forecast`, { token: started.token })).toMatchObject({
      status: 404,
      body: { code: 'delivery_not_set_up' },
    });
  });
});
