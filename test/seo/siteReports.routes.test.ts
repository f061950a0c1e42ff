import { beforeAll, describe, expect, test } from '@jest/globals';
import { websiteDecider } from '../../src/commands/website/website.decider.js';
import { createRoutes } from '../../src/http/routes/index.js';
import { daysBetween } from '../../src/integrations/analytics/port.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import type { Booking, BookingsQuery } from '../../src/integrations/scheduling/port.js';
import { countBookings } from '../../src/projections/booking/booking.queries.js';
import { seoScanProcess } from '../../src/workers/seo/seo.process.js';
import { startApi, type ApiAnswer, type RunningApi } from '../support/http.js';

/** Analytics, SEO and bookings: what a website's members are told of it. */
let api: RunningApi;
let token: string;

beforeAll(async () => {
  api = await startApi();
  token = await api.mintToken();
});

const newWebsite = async (slug: string, by = api, isActive = true): Promise<string> => {
  const admin = await by.mintToken();
  const { body } = await by.call('POST', '/websites', { token: admin, body: { name: slug, slug, tier: 'growth' } });
  const { id: websiteId } = body as { id: string };
  const repository = { provider: 'embedded', id: slug, name: slug, cloneUrl: 'file:///x' };
  const hosting = { provider: 'embedded', projectId: slug, name: slug };
  const activation = { type: 'ActivateWebsite', websiteId, repository, hosting, url: `https://${slug}.example/` } as const;
  const context = {
    commandId: by.engine.ids.commandId(),
    actor: { subject: 'x', role: 'system', via: 'worker' },
    requestId: 'r',
  } as const;
  if (isActive) await by.engine.handle(websiteDecider, activation, context);
  return websiteId;
};

const get = (path: string): Promise<ApiAnswer> => api.call('GET', path, { token });
const post = (path: string, body?: unknown): Promise<ApiAnswer> =>
  api.call('POST', path, { token, ...(body !== undefined && { body }) });

describe('GET /websites/:id/analytics', () => {
  test('answers thirty days up to today, of which nobody came on any', async () => {
    const id = await newWebsite('quiet');
    const today = () => new Date().toISOString().slice(0, 10);
    const before = today();
    const { status, body } = await get(`/websites/${id}/analytics`);
    const report = body as { series: { date: string }[] };
    expect(status).toBe(200);
    expect(body).toMatchObject({ visitors: 0, pageviews: 0, topPages: [], sources: [] });
    expect(report.series).toHaveLength(30);
    // At midnight it may be either.
    expect([before, today()]).toContain(report.series.at(-1)?.date);
  });

  test('takes days and times, in UTC', async () => {
    const id = await newWebsite('times');
    const { body } = await get(`/websites/${id}/analytics?from=2026-02-27&to=2026-03-01T23:30:00-01:00`);
    expect((body as { series: { date: string }[] }).series.map(({ date }) => date)).toStrictEqual([
      '2026-02-27',
      '2026-02-28',
      '2026-03-01',
      '2026-03-02',
    ]);
  });

  test('has no day before the website was created: another one may have had its name and address', async () => {
    const asked: object[] = [];
    const other = await startApi({
      routes: (parts) =>
        createRoutes({
          ...parts,
          analytics: {
            provider: 'counting',
            report: (query) => {
              asked.push(query);
              const { from, to } = query;
              const series = daysBetween(from, to).map((date) => ({ date, visitors: 1, pageviews: 2 }));
              return Promise.resolve({
                visitors: series.length,
                pageviews: 2 * series.length,
                series,
                topPages: [],
                sources: [],
              });
            },
          },
        }),
    });
    const id = await newWebsite('taken-over', other);
    const admin = await other.mintToken();
    const read = async (query = '') => (await other.call('GET', `/websites/${id}/analytics${query}`, { token: admin })).body;
    const { createdAt } = (await other.call('GET', `/websites/${id}`, { token: admin })).body as { createdAt: string };
    const created = createdAt.slice(0, 10);
    const report = (await read(`?to=${created}`)) as { series: object[] };
    expect(report).toMatchObject({ visitors: 1, pageviews: 2 });
    expect(report.series).toHaveLength(30);
    expect(report.series.slice(-2)).toMatchObject([{ visitors: 0 }, { date: created, visitors: 1 }]);
    expect(asked).toMatchObject([{ from: created, to: created }]);
    expect(await read('?from=2020-01-01&to=2020-01-02')).toMatchObject({
      visitors: 0,
      series: [{ visitors: 0 }, { visitors: 0 }],
    });
    expect(asked).toHaveLength(1);

    // A site of its own at the provider is the website's, however old it is.
    await other.call('POST', `/websites/${id}/services`, { token: admin, body: { kind: 'analytics', siteId: 'old.example' } });
    expect(await read('?from=2020-01-01&to=2020-01-02')).toMatchObject({ visitors: 2 });
  });

  test('is empty before the website is active', async () => {
    const id = await newWebsite('early', api, false);
    expect((await get(`/websites/${id}/analytics?from=2026-03-01&to=2026-03-01`)).body).toStrictEqual({
      visitors: 0,
      pageviews: 0,
      series: [{ date: '2026-03-01', visitors: 0, pageviews: 0 }],
      topPages: [],
      sources: [],
    });
  });

  test.each([
    ['from=2026-02-30', 'Invalid query — from: must be a day as in 2030-01-31, or a time'],
    ['to=yesterday', 'Invalid query — to: must be a day as in 2030-01-31, or a time'],
    ['from=2026-03-02&to=2026-03-01', 'Invalid query — from: must not be after to'],
    ['from=2024-01-01&to=2026-01-01', 'Invalid query — from: must be at most 366 days before to'],
    ['from=2025-01-01&to=2026-01-02', 'Invalid query — from: must be at most 366 days before to'],
    ['from=0000-01-01&to=9999-12-31', 'Invalid query — from: must be at most 366 days before to'],
  ])('refuses %s', async (query, error) => {
    const id = await newWebsite(`q${api.engine.ids.commandId()}`.slice(0, 40));
    expect(await get(`/websites/${id}/analytics?${query}`)).toMatchObject({ status: 400, body: { error } });
  });
});

describe('SEO scans', () => {
  test('are asked for, shown while they are under way, and not asked for twice', async () => {
    const id = await newWebsite('scanned');
    expect((await get(`/websites/${id}/seo`)).body).toStrictEqual({ latest: null, past: [] });
    const asked = await post(`/websites/${id}/seo/scans`);
    expect(asked).toMatchObject({
      status: 202,
      body: { status: 'queued', trigger: 'request', url: `${api.url}/sites/scanned/` },
    });
    expect((await post(`/websites/${id}/seo/scans`)).body).toStrictEqual(asked.body);
    expect((await get(`/websites/${id}/seo`)).body).toStrictEqual({ latest: asked.body, past: [] });
  });

  test('are shown with what they found, those before as well', async () => {
    const id = await newWebsite('found');
    const findings = [
      { rule: 'noindex', severity: 'error', message: 'm', advice: 'a', affected: 1, pages: ['https://found.example/'] },
    ];
    for (const score of [70, 80]) {
      const { id: scanId } = (await post(`/websites/${id}/seo/scans`)).body as { id: string };
      const result = {
        url: 'https://found.example/',
        score,
        pages: 3,
        complete: true,
        findings,
        probes: { status: 'notConfigured', answers: [] },
      };
      for (const command of [
        { type: 'StartAttempt', attempt: 1, worker: 'A' },
        { type: 'RecordResult', attempt: 1, result },
      ] as const) {
        const context = {
          commandId: api.engine.ids.commandId(),
          actor: { subject: 'x', role: 'system', via: 'worker' },
          requestId: 'r',
        } as const;
        await api.engine.handle(seoScanProcess, { websiteId: id, scanId, ...command } as never, context);
      }
    }
    expect((await get(`/websites/${id}/seo`)).body).toMatchObject({
      latest: { status: 'completed', score: 80, findings, probes: { status: 'notConfigured' } },
      past: [{ status: 'completed', score: 70, findings }],
    });
  });

  test('are refused before the website has an address, and for an archived one', async () => {
    const early = await newWebsite('nowhere', api, false);
    expect(await post(`/websites/${early}/seo/scans`)).toMatchObject({
      status: 400,
      body: { error: `Website ${early} is not active` },
    });
    const archived = await newWebsite('shelved');
    await post(`/websites/${archived}/archive`);
    expect(await post(`/websites/${archived}/seo/scans`)).toMatchObject({
      status: 400,
      body: { error: `Website ${archived} is archived` },
    });
  });
});

describe('bookings of the embedded calendar', () => {
  const at = (day: number): { start: string; end: string } => ({
    start: `2031-01-0${day}T09:00:00.000Z`,
    end: `2031-01-0${day}T10:00:00.000Z`,
  });

  test('are written by admins, listed by when they start, and cancelled', async () => {
    const id = await newWebsite('booked');
    const add = (title: string, day: number) => post(`/websites/${id}/bookings`, { title, ...at(day), location: 'In the shop' });
    const second = await add('Second', 2);
    expect(second).toMatchObject({
      status: 201,
      body: { title: 'Second', status: 'accepted', ...at(2), location: 'In the shop', attendees: [] },
    });
    const first = await add('First', 1);
    expect((await get(`/websites/${id}/bookings`)).body).toStrictEqual([first.body, second.body]);

    const { id: bookingId } = second.body as Booking;
    const path = `/websites/${id}/bookings/${bookingId}`;
    expect((await api.call('DELETE', path, { token })).status).toBe(204);
    expect((await api.call('DELETE', path, { token })).status).toBe(404);
    expect((await get(path)).status).toBe(404);
    for (const query of ['', `&to=${at(2).end}`, `&ids=${bookingId},${(first.body as Booking).id}`]) {
      const left = await get(`/websites/${id}/bookings?count=true${query}`);
      expect([left.body, left.headers.get('total-count')]).toStrictEqual([[first.body], '1']);
    }
    expect(await countBookings(api.engine, id, { from: '2030-01-01T00:00:00.000Z' })).toBe(1);
    expect(await api.call('DELETE', `${path}x`, { token })).toMatchObject({
      status: 404,
      body: { error: `Booking ${bookingId}x not found` },
    });
  });

  test('of the past are written and listed too, also of long ago', async () => {
    const id = await newWebsite('past');
    const add = async (title: string, start: string, end: string) =>
      (await post(`/websites/${id}/bookings`, { title, start, end })).status;
    expect(await add('First', '1970-01-01T00:00:00.000Z', '1970-01-01T01:00:00.000Z')).toBe(201);
    expect(await add('Long ago', '2020-01-01T09:00:00.000Z', '2020-01-01T10:00:00.000Z')).toBe(201);
    expect(await add('To come', at(1).start, at(1).end)).toBe(201);
    const titles = async (query = ''): Promise<unknown> =>
      ((await get(`/websites/${id}/bookings${query}`)).body as Booking[]).map(({ title }) => title);
    expect(await titles()).toStrictEqual(['First', 'Long ago', 'To come']);
    expect(await titles('?from=2020-06-01T00:00:00Z')).toStrictEqual(['To come']);
    expect((await get(`/websites/${id}/bookings?limit=1&count=true`)).headers.get('total-count')).toBe('3');
  });

  test('come in pages', async () => {
    const id = await newWebsite('paged');
    for (const day of [1, 2, 3]) await post(`/websites/${id}/bookings`, { title: `Day ${day}`, ...at(day) });
    const one = await get(`/websites/${id}/bookings?limit=2`);
    expect((one.body as Booking[]).map(({ title }) => title)).toStrictEqual(['Day 1', 'Day 2']);
    const next = /<([^>]+)>; rel="next"/.exec(one.headers.get('link') ?? '')?.[1] ?? '';
    const two = await get(`/websites/${id}/bookings${new URL(next, 'http://x').search}`);
    expect((two.body as Booking[]).map(({ title }) => title)).toStrictEqual(['Day 3']);
    expect(two.headers.get('link')).toBeNull();
    const cursor = Buffer.from('ab').toString('base64url');
    expect((await get(`/websites/${id}/bookings?cursor=${cursor}`)).status).toBe(400);
  });

  test('with the same start are all there, each once, in pages too; one that starts at the end asked for is not', async () => {
    const id = await newWebsite('same-start');
    const added = await Promise.all(['a', 'b', 'c'].map((title) => post(`/websites/${id}/bookings`, { title, ...at(1) })));
    const all = await get(`/websites/${id}/bookings`);
    const titles = (all.body as Booking[]).map(({ title }) => title);
    expect(titles.toSorted()).toStrictEqual(['a', 'b', 'c']);
    expect(new Set(added.map(({ body }) => (body as Booking).id)).size).toBe(3);
    const paged: string[] = [];
    for (let path: string | undefined = `/websites/${id}/bookings?limit=1`; path !== undefined;) {
      const { body, headers } = await get(path);
      paged.push(...(body as Booking[]).map(({ title }) => title));
      const next: string | undefined = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
      path = next === undefined ? undefined : `/websites/${id}/bookings${new URL(next, 'http://x').search}`;
    }
    expect(paged).toStrictEqual(titles);
    expect((await get(`/websites/${id}/bookings?from=${at(1).start}`)).body).toHaveLength(3);
    expect((await get(`/websites/${id}/bookings?to=${at(1).start}`)).body).toStrictEqual([]);
    expect((await get(`/websites/${id}/bookings?to=${at(1).end}`)).body).toHaveLength(3);
    for (const query of ['', `&to=${at(1).end}`]) {
      expect((await get(`/websites/${id}/bookings?limit=1&count=true${query}`)).headers.get('total-count')).toBe('3');
    }
    expect((await get(`/websites/${id}/bookings?limit=1&count=true&to=${at(1).start}`)).headers.get('total-count')).toBe('0');
  });

  test.each([
    ['no title', { title: ' ', ...at(1) }, 'Invalid request body — title: must not be blank'],
    ['no end', { title: 'x', start: at(1).start }, 'Invalid request body — end: is required'],
    [
      'a start before 1970',
      { title: 'x', start: '1970-01-01T00:00:00+01:00', end: at(1).end },
      'Invalid request body — start: must be in 1970 or later',
    ],
    [
      'an end before its start',
      { title: 'x', start: at(2).start, end: at(1).end },
      'Invalid request body — end: must be after start',
    ],
  ])('are refused with %s', async (_, body, error) => {
    const id = await newWebsite(`b${api.engine.ids.commandId()}`.slice(0, 40));
    expect(await post(`/websites/${id}/bookings`, body)).toMatchObject({ status: 400, body: { error } });
  });
});

describe('bookings of a scheduling service', () => {
  test('are asked for at each call and written there alone', async () => {
    const asked: BookingsQuery[] = [];
    const answers: (() => readonly Booking[])[] = [
      () => [
        {
          id: 'b1',
          title: 'Tasting',
          status: 'pending',
          start: '2031-01-01T09:00:00.000Z',
          end: '2031-01-01T09:30:00.000Z',
          attendees: [{ name: 'Ada' }],
        },
      ],
      () => {
        throw new ProviderFault({ provider: 'Cal.com', message: 'no', transient: true, retryAfterMs: 5_000 });
      },
      () => {
        throw new ProviderFault({ provider: 'Cal.com', message: 'the API key is not accepted', transient: false });
      },
    ];
    const other = await startApi({
      scheduling: {
        provider: 'Cal.com',
        bookings: (query) =>
          new Promise((resolve) => {
            asked.push(query);
            resolve(answers.shift()?.() ?? []);
          }),
        count: () => Promise.resolve(0),
      },
    });
    const admin = await other.mintToken();
    const id = await newWebsite('elsewhere', other);
    const path = `/websites/${id}/bookings`;
    const from = '2031-01-01T00:00:00.000Z';
    const listed = await other.call('GET', `${path}?from=${from}`, { token: admin });
    expect(listed).toMatchObject({ status: 200, body: [{ id: 'b1', attendees: [{ name: 'Ada' }] }] });
    expect(asked).toStrictEqual([{ site: { websiteId: id, slug: 'elsewhere' }, from, limit: 51 }]);

    const away = await other.call('GET', path, { token: admin });
    expect(away).toMatchObject({ status: 503, body: { error: 'Cal.com cannot be asked right now' } });
    expect(away.headers.get('retry-after')).toBe('5');
    expect(await other.call('GET', path, { token: admin })).toMatchObject({
      status: 502,
      body: { error: 'Cal.com refused: the API key is not accepted' },
    });
    const body = { title: 'x', start: '2031-01-01T09:00:00Z', end: '2031-01-01T09:30:00Z' };
    expect(await other.call('POST', path, { token: admin, body })).toMatchObject({
      status: 400,
      body: { error: 'Bookings are made and cancelled in Cal.com' },
    });
  });
});
