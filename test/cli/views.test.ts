import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pc from 'picocolors';
import type { DeliveryBlock, ProvisioningJob } from '@doorstep/sdk';
import { isDay, readDate, readOwnDate, readTime } from '../../cli/src/dates.js';
import { changesOf, editDelivery, readForCheckpoint, type DeliveryEdit } from '../../cli/src/deliveryEdit.js';
import { expiryFrom } from '../../cli/src/login/expiry.js';
import type { Column } from '../../cli/src/output.js';
import { progressLine } from '../../cli/src/progress.js';
import { table } from '../../cli/src/table.js';
import { changeLines, labelsOf } from '../../cli/src/views/changes.js';
import { deliveryLines } from '../../cli/src/views/delivery.js';
import { historyLines } from '../../cli/src/views/history.js';
import type { Drawing } from '../../cli/src/views/drawing.js';
import { accessRows } from '../../cli/src/views/resources.js';
import { jobLines } from '../../cli/src/views/provisioning.js';
import { billingLines } from '../../cli/src/views/reports.js';
import { duration, fromNow, money, sentence, shortDay, size } from '../../cli/src/views/words.js';

const now = Date.parse('2026-11-22T10:00:00.000Z');
const noon = (day: string): string => `${day}T12:00:00.000Z`;
const terminal: Drawing = { style: pc.createColors(false), width: 80, marks: true, now, timeZone: 'UTC' };
const pipe: Drawing = { ...terminal, marks: false, width: Infinity };

const block: DeliveryBlock = {
  websiteId: 'w',
  estimatedCompletionAt: noon('2026-12-22'),
  showPreviewUrl: false,
  revision: 7,
  updatedAt: noon('2026-11-20'),
  checkpoints: [
    { id: 'kickoff', label: 'Kickoff', order: 10, status: 'done', completedAt: noon('2026-11-03') },
    { id: 'design-approved', label: 'Design approved', order: 20, status: 'done', completedAt: noon('2026-11-18') },
    { id: 'initial-deploy', label: 'Initial deploy', order: 30, status: 'done', completedAt: noon('2026-11-20') },
    {
      id: 'content-loaded',
      label: 'Content loaded',
      order: 40,
      status: 'in_progress',
      dueAt: noon('2026-11-28'),
      neededFromClient: 'opening hours, three photos',
    },
    { id: 'qa', label: 'QA', order: 50, status: 'pending', dueAt: noon('2026-12-10') },
    { id: 'launch', label: 'Launch', order: 60, status: 'pending' },
  ],
};

it('names of events are words, abbreviations as they are', () => {
  expect(['DeliveryCheckpointStatusSet', 'APIKeyMinted', 'ContentPublished'].map(sentence)).toEqual([
    'Delivery checkpoint status set',
    'API key minted',
    'Content published',
  ]);
});

it('a history says which reasons clients do not read; what clients are given, they may read', () => {
  const [at, reason, changes] = [noon('2026-11-20'), 'Photos are late.', [{ path: 'showPreviewUrl', from: false, to: true }]];
  const actor = { subject: 'ops@example.com', role: 'admin', via: 'token' } as const;
  const change = { type: 'DeliveryReplaced', revision: 1, at, actor, reason, changes };
  const reasonIn = (shown: Parameters<typeof historyLines>[0][number]) => historyLines([shown], terminal).at(-1);
  expect(reasonIn(change)).toBe('  “Photos are late.” (clients do not read the reason)');
  expect(reasonIn({ ...change, reasonVisible: true })).toBe('  “Photos are late.”');
  expect(reasonIn({ type: 'DeliveryReplaced', revision: 1, at, reason, changes })).toBe('  “Photos are late.”');
});

it('a table cuts texts, and never the id that other commands take', () => {
  const id = '01m8fr3rgzmdzgknxsk4px5w4k';
  const columns: readonly Column<{ readonly title: string }>[] = [
    { heading: 'title', value: ({ title }) => title },
    { heading: 'who', value: () => 'Nell', spare: true },
    { heading: 'id', value: () => id, whole: true },
  ];
  const shown = (title: string): string | undefined => table([{ title }], columns, 40, terminal.style)[1];
  expect(shown('Cake')).toBe(`Cake   Nell  ${id}`);
  expect(shown('A tasting for two')).toBe(`A tasting f…  ${id}`);
  // As wide as the id.
  expect(shown('A tasting of eleven cakes.')).toBe(`A tasting o…  ${id}`);
});

it.each([true, false])('an invoice takes one line, in colours: %s', (coloured) => {
  const invoice = {
    id: 'i',
    websiteId: 'w',
    clientId: 'c',
    number: '000001',
    status: 'paid' as const,
    total: 490_000,
    amountPaid: 490_000,
    currency: 'jpy',
    description: 'All that was baked for the wedding, and the tasting before it.',
    createdAt: noon('2026-11-20'),
  };
  const drawing = { ...terminal, style: pc.createColors(coloured) };
  const [, line = ''] = billingLines('Corner Bakery', { subscription: null, invoices: [invoice] }, drawing);
  expect(stripVTControlCharacters(line)).toBe('  ¥490,000  paid           20 Nov       All that was baked for the wedding, and…');
  expect(line.startsWith('  ¥490,000  \u001b[32mpaid')).toBe(coloured);
});

describe('a delivery', () => {
  it('is a sentence and a line for each checkpoint', () => {
    expect(deliveryLines('Corner Bakery', block, terminal)).toEqual([
      'Corner Bakery: ready by 22 December (in 30 days). 3 of 6 done; now: Content',
      'loaded.',
      '  ✓ Kickoff            3 Nov',
      '  ✓ Design approved   18 Nov',
      '  ✓ Initial deploy    20 Nov',
      '  ◐ Content loaded    due 28 Nov    needed: opening hours, three photos',
      '  ○ QA                due 10 Dec',
      '  ○ Launch',
    ]);
  });

  it('is one line wide enough, and has words for marks in a pipe', () => {
    const [headline, first, , , current] = deliveryLines('Corner Bakery', block, pipe);
    expect(headline).toBe('Corner Bakery: ready by 22 December (in 30 days). 3 of 6 done; now: Content loaded.');
    expect(first).toBe('  done         Kickoff            3 Nov');
    expect(current).toBe('  in progress  Content loaded    due 28 Nov    needed: opening hours, three photos');
  });

  it('fits a narrow terminal, with what is needed beneath its checkpoint', () => {
    const lines = deliveryLines('Corner Bakery', block, { ...terminal, width: 40 });
    expect(lines.filter((line) => line.length > 40)).toEqual([]);
    expect(lines).toContain('    needed: opening hours, three photos');
  });

  it.each([
    ['Pacific/Auckland', '2026-11-22T10:00:00.000Z', 'in 30 days'],
    ['Pacific/Kiritimati', '2026-11-22T10:00:00.000Z', 'in 29 days'],
    ['America/New_York', '2026-11-23T01:00:00.000Z', 'in 30 days'],
  ])('has the days of the delivery in %s, and counts them from the day there', (timeZone, time, away) => {
    const there = { ...pipe, timeZone, now: Date.parse(time) };
    const lines = deliveryLines('Corner Bakery', block, there);
    expect(lines[0]).toContain(`ready by 22 December (${away}).`);
    expect(lines[5]).toContain('due 10 Dec');
    const change = { path: 'estimatedCompletionAt', from: block.estimatedCompletionAt, to: noon('2026-12-31') };
    expect(changeLines([change], labelsOf(block), there)).toEqual(['  ready by   22 December → 31 December']);
    expect(changeLines([{ ...change, to: '2026-12-22T20:00:00.000Z' }], labelsOf(block), there)).toEqual([
      '  ready by   22 Dec, 12:00 UTC → 22 Dec, 20:00 UTC',
    ]);
  });

  it('says what is late', () => {
    const late = deliveryLines('Corner Bakery', block, { ...terminal, now: Date.parse('2026-12-01T00:00:00Z') });
    expect(late.filter((line) => line.includes('(late)'))).toEqual([
      '  ◐ Content loaded    due 28 Nov (late)    needed: opening hours, three photos',
    ]);
  });

  it.each([
    ['America/New_York', '2026-11-29T04:59:00Z', '2026-11-29T05:00:00Z'],
    ['Pacific/Auckland', '2026-11-28T10:59:00Z', '2026-11-28T11:00:00Z'],
  ])('is late once the day is over in %s', (timeZone, ...times) => {
    const late = times.map((time) => deliveryLines('Corner Bakery', block, { ...pipe, timeZone, now: Date.parse(time) })[4]);
    expect(late).toEqual([expect.not.stringContaining('(late)'), expect.stringContaining('due 28 Nov (late)')]);
  });

  it('lets no text of a client act on the terminal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (text) => {
        const forged = {
          ...block,
          checkpoints: [{ id: 'a', label: `x${text}`, order: 1, status: 'pending' as const, neededFromClient: text }],
        };
        expect(deliveryLines(text, forged, terminal).join('')).not.toMatch(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe('a build', () => {
  const step = (
    id: ProvisioningJob['steps'][number]['id'],
    more: Partial<ProvisioningJob['steps'][number]>,
  ): ProvisioningJob['steps'][number] => ({
    id,
    status: 'pending',
    attempts: 0,
    ...more,
  });
  const took = (ms: number): { startedAt: string; finishedAt: string; status: 'succeeded'; attempts: number } => ({
    startedAt: new Date(now - ms).toISOString(),
    finishedAt: new Date(now).toISOString(),
    status: 'succeeded',
    attempts: 1,
  });
  const job = (deploy: Partial<ProvisioningJob['steps'][number]>): ProvisioningJob => ({
    id: 'j',
    websiteId: 'w',
    status: 'running',
    createdAt: noon('2026-11-22'),
    steps: [
      step('github_create_repo', { ...took(400), output: { id: 'northlight/corner-bakery', name: 'corner-bakery' } }),
      step('github_invite_collaborator', { ...took(200), output: { invited: ['ada', 'grace'] } }),
      step('vercel_create_project', { ...took(1100), output: { name: 'corner-bakery' } }),
      step('vercel_set_env_vars', { ...took(100), output: { variables: ['A', 'B', 'C'] } }),
      step('vercel_initial_deploy', deploy),
      step('finalize', {}),
    ],
  });
  const running = { status: 'running', attempts: 1, startedAt: new Date(now - 2800).toISOString() } as const;

  it('is a line for each step: mark, name, what came of it, how long it took', () => {
    expect(jobLines(job(running), terminal)).toEqual([
      '✓ Repository from the template    northlight/corner-bakery          0.4 s',
      '✓ Collaborators                   2 invited                         0.2 s',
      '✓ Hosting project                 corner-bakery                     1.1 s',
      '✓ Variables                       3 set                             0.1 s',
      '◐ First deployment                building …                        2.8 s',
      '○ Last check',
    ]);
  });

  it('says when a step is tried again, and what went wrong', () => {
    const again = { ...running, nextAttemptAt: new Date(now + 4000).toISOString(), error: 'hosting answered 503\u001b[2J' };
    const lines = jobLines(job(again), terminal).slice(4, 6);
    expect(lines[0]).toBe('◐ First deployment                attempt 2 in 4 s                  2.8 s');
    expect(lines[1]).toMatch(/^ {2}hosting answered 503.\[2J$/u);
  });

  it('fits a narrow terminal', () => {
    expect(jobLines(job(running), { ...terminal, width: 40 })[0]).toBe('✓ Repository from the template  0.4 s');
  });
});

describe('a change of a delivery', () => {
  const none: DeliveryEdit = { due: [], needed: [], labels: [], add: [], remove: [] };
  const linesOf = (edit: Partial<DeliveryEdit>): string[] =>
    changeLines(changesOf(block, editDelivery(block, { ...none, ...edit })), labelsOf(block), terminal);

  it.each<[string, Partial<DeliveryEdit>, string[]]>([
    ['the day', { readyBy: noon('2026-12-15') }, ['  ready by   22 December → 15 December']],
    ['the day of another year', { readyBy: noon('2027-01-05') }, ['  ready by   22 December → 5 January 2027']],
    ['the preview', { showPreview: true }, ['  preview   hidden → shown to clients']],
    ['nothing', { readyBy: block.estimatedCompletionAt }, []],
    ['a deadline', { due: [{ id: 'launch', value: noon('2026-12-20') }] }, ['  Launch   due none → 20 Dec']],
    ['no deadline any more', { due: [{ id: 'qa', value: '' }] }, ['  QA   due 10 Dec → none']],
    [
      'a new checkpoint',
      { add: ['Fotos gewählt'], due: [{ id: 'fotos-gewahlt', value: noon('2026-12-06') }] },
      ['  Fotos gewählt   added, due 6 Dec'],
    ],
    ['one checkpoint less', { remove: ['launch'] }, ['  Launch   removed']],
    [
      'what is needed',
      { needed: [{ id: 'content-loaded', value: '' }] },
      ['  Content loaded   needed: opening hours, three photos → none'],
    ],
  ])('names %s, old and new', (_what, edit, lines) => {
    expect(linesOf(edit)).toEqual(lines);
  });

  it('keeps the list of checkpoints out of a body that does not touch it', () => {
    expect(editDelivery(block, { ...none, readyBy: noon('2026-12-15') })).toEqual({
      estimatedCompletionAt: noon('2026-12-15'),
      showPreviewUrl: false,
    });
  });

  it('gives checkpoints with long labels ids that are short enough, and different', () => {
    const add = Array.from({ length: 12 }, () => 'Photographs of the shop, the bakers and everything that they bake before dawn');
    const ids = editDelivery(block, { ...none, add }).checkpoints?.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(block.checkpoints.length + add.length);
    for (const id of ids) expect(id).toMatch(/^[a-z0-9][a-z0-9-]{0,62}[a-z0-9]$/);
  });

  it('names the checkpoints that there are when one is not there', () => {
    expect(() => editDelivery(block, { ...none, remove: ['qaa'] })).toThrow(
      'There is no checkpoint "qaa". There are: kickoff, design-approved, initial-deploy, content-loaded, qa, launch',
    );
    expect(() => readForCheckpoint('28 Nov')).toThrow('"28 Nov" is not of the form <checkpoint>=<value>');
  });
});

describe('when a token ends', () => {
  const endOf = (day: string): string => `${day}T23:59:59.999Z`;

  it.each([
    ['never', undefined],
    ['90d', '2027-02-20T10:00:00.000Z'],
    ['12h', '2026-11-22T22:00:00.000Z'],
    ['2w', '2026-12-06T10:00:00.000Z'],
    ['2026-12-22', endOf('2026-12-22')],
    ['22 Dec', endOf('2026-12-22')],
    ['22 December 2030', endOf('2030-12-22')],
    ['in 90 days', endOf('2027-02-20')],
    ['+2w', endOf('2026-12-06')],
    ['today', endOf('2026-11-22')],
    ['2026-12-22T08:00:00Z', '2026-12-22T08:00:00.000Z'],
  ])('%s', (text, end) => {
    expect(expiryFrom(text, now)).toBe(end);
  });

  it('is refused where it is past, or no time', () => {
    for (const text of ['2026-11-21', '22 Dec 2001', 'yesterday', 'now', '0d']) {
      expect(() => expiryFrom(text, now)).toThrow(`"${text}" is in the past`);
    }
    for (const text of ['soon', '31 Feb', '2026-02-31', '9999999999d', '12']) {
      expect(() => expiryFrom(text, now)).toThrow(`"${text}" is no expiry: use 90d, 12h, 2w, a day such as "22 Dec"`);
    }
  });
});

describe('a date as people type it', () => {
  it.each([
    ['22 Dec', '2026-12-22'],
    ['22 December', '2026-12-22'],
    ['22nd of december', '2026-12-22'],
    ['Dec 22, 2027', '2027-12-22'],
    ['22 December 2026', '2026-12-22'],
    ['3 Nov', '2027-11-03'],
    ['22 Nov', '2026-11-22'],
    ['29 Feb', '2028-02-29'],
    ['2026-12-22', '2026-12-22'],
    ['in 30 days', '2026-12-22'],
    ['in a week', '2026-11-29'],
    ['+2w', '2026-12-06'],
    ['+3 months', '2027-02-22'],
    ['tomorrow', '2026-11-23'],
    ['Friday', '2026-11-27'],
    ['next sunday', '2026-11-29'],
    ['last sunday', '2026-11-15'],
    ['Last Monday', '2026-11-16'],
  ])('%s, ahead, is %s at 12:00 UTC', (text, day) => {
    expect(readDate(text, now, 'future')).toBe(noon(day));
  });

  it.each([
    ['3 Nov', '2026-11-03'],
    ['22 Dec', '2025-12-22'],
    ['3 days ago', '2026-11-19'],
    ['yesterday', '2026-11-21'],
    ['friday', '2026-11-20'],
    ['next Friday', '2026-11-27'],
  ])('%s of the past is %s', (text, day) => {
    expect(readDate(text, now, 'past')).toBe(noon(day));
  });

  it.each(['Today', 'Tuesday', 'Thu', '22 Oct', '2026-11-22', 'in 2 days'])('%s is a day', (text) => {
    expect(isDay(text)).toBe(true);
  });

  it.each(['now', '2026-11-22T12:00:00Z', '2026-11-22t10:00:00+02:00'])('%s is a time', (text) => {
    expect(isDay(text)).toBe(false);
  });

  it('takes a time as it is, and the shorter month of a sum', () => {
    for (const zone of ['+02:00', '+0200']) {
      expect(readDate(`2026-11-22T10:00:00${zone}`, now, 'past')).toBe('2026-11-22T08:00:00.000Z');
    }
    expect(readDate('in 1 month', Date.parse('2027-01-31T08:00:00Z'), 'future')).toBe(noon('2027-02-28'));
  });

  it.each(['soon', '', '31 Feb', '2026-02-30', '2026-02-30T10:00:00Z', '32 Dec', '22 Foo', 'in days', '12/22/2026', '22 Dec 26'])(
    'refuses "%s"',
    (text) => {
      expect(() => readDate(text, now, 'future')).toThrow(`"${text}" is not a date. Write it like "22 Dec"`);
    },
  );
});

describe('a date of the person who types it', () => {
  // Sunday, 22 November: 20:00 in New York, 9:00 in Auckland.
  it.each([
    ['America/New_York', '2026-11-23T01:00:00.000Z'],
    ['Pacific/Auckland', '2026-11-21T20:00:00.000Z'],
  ])('is counted from the day that it is in %s', (timeZone, time) => {
    const there = { now: Date.parse(time), timeZone };
    expect(['today', 'tomorrow', 'in 30 days', 'monday', '22 nov'].map((text) => readOwnDate(text, there, 'future'))).toEqual(
      ['2026-11-22', '2026-11-23', '2026-12-22', '2026-11-23', '2026-11-22'].map(noon),
    );
    expect(readOwnDate('yesterday', there, 'past')).toBe(noon('2026-11-21'));
    expect(readOwnDate('now', there, 'past')).toBe(time);
  });
});

describe('a time as people type it', () => {
  it.each([
    ['2026-12-01T10:00', '2026-12-01T10:00:00'],
    ['2026-12-01 10:00:30', '2026-12-01T10:00:30'],
    ['2026-12-01T10:00Z', '2026-12-01T10:00:00Z'],
    ['2026-12-01t10:00+02:00', '2026-12-01T10:00:00+02:00'],
    ['2026-12-01T10:00:00-0130', '2026-12-01T10:00:00-01:30'],
  ])('%s is of the time zone here, unless it names one', (text, time) => {
    expect(readTime(text)).toBe(new Date(time).toISOString());
  });

  it.each(['22 Dec', '1 Dec 10:00', 'tomorrow at 10', '2026-12-01', '2026-02-30T10:00', '2026-12-01T25:00', '10:00'])(
    'refuses "%s"',
    (text) => {
      expect(() => readTime(text)).toThrow(`"${text}" is not a time. Write it like 2026-12-01T10:00`);
    },
  );
});

describe('words', () => {
  it('says days from today', () => {
    const clock = { now, timeZone: 'Europe/Berlin' };
    expect(fromNow(noon('2026-12-22'), clock)).toBe('in 30 days');
    expect(fromNow('2026-11-22T23:30:00.000Z', clock)).toBe('tomorrow');
    expect(shortDay('2026-11-22T23:30:00.000Z', clock)).toBe('23 Nov');
    expect(shortDay(noon('2027-09-01'), clock)).toBe('1 Sep 2027');
  });

  it('says sizes, durations and money', () => {
    expect([0, 999, 1000, 999_950, 3_100_000].map(size)).toEqual(['0 B', '999 B', '1.0 kB', '1.0 MB', '3.1 MB']);
    expect([40, 59_900, 60_000, 65_400].map(duration)).toEqual(['0.0 s', '59.9 s', '1 min 0 s', '1 min 5 s']);
    expect([money(4900, 'eur'), money(500, 'jpy')]).toEqual(['€49.00', '¥500']);
  });

  it('draws the progress of an upload within the terminal', () => {
    expect(progressLine('contract.pdf', { sent: 500_000, total: 2_000_000 }, 79)).toBe(
      `contract.pdf  ${'█'.repeat(8)}${'░'.repeat(22)}   25%  500.0 kB of 2.0 MB`,
    );
    for (const columns of [20, 40, 60, 200])
      expect(
        progressLine('a-very-long-name-of-a-document.pdf', { sent: 1, total: 3_000_000 }, columns).length,
      ).toBeLessThanOrEqual(columns);
  });
});

describe('who has access', () => {
  const invitation = { id: 'i', kind: 'client_access', websiteId: 'w', role: 'editor', createdAt: noon('2026-11-01') } as const;

  it('tells an open invitation from one that has expired', () => {
    const rows = accessRows({
      owner: null,
      links: [],
      invitations: [
        { ...invitation, email: 'open@example.com', status: 'pending', expiresAt: noon('2026-12-01') },
        { ...invitation, email: 'late@example.com', status: 'expired', expiresAt: noon('2026-11-10') },
      ],
    });
    expect(rows).toMatchObject([
      { email: 'open@example.com', as: 'invited as editor', open: true },
      { email: 'late@example.com', as: 'invitation as editor has expired', open: false },
    ]);
  });
});
