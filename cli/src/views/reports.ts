import type { AnalyticsReport, Billing, SeoReport } from '@doorstep/sdk';
import { clean } from '../output.js';
import { cut, pad } from '../table.js';
import { widest, wrapped, type Drawing } from './drawing.js';
import { count, money, shortDay, shortTime } from './words.js';

const blocks = '▁▂▃▄▅▆▇█';

/** The numbers as a line of bars. */
const sparkline = (numbers: readonly number[]): string => {
  const highest = Math.max(1, ...numbers);
  return numbers.map((number) => blocks[Math.round((number / highest) * (blocks.length - 1))] ?? '').join('');
};

const ranking = (rows: readonly (readonly [name: string, number: number])[], { width }: Drawing): string[] => {
  const room = Math.max(12, Math.min(50, width - 12));
  const names = rows.map(([name]) => cut(clean(name), room));
  const column = widest(names);
  return rows.map(([, number], index) => `  ${pad(names[index] ?? '', column)}  ${String(number).padStart(6)}`);
};

/** Visitors of a website: a sentence, the days as bars, what they looked at and where they came from. */
export const analyticsLines = (website: string, report: AnalyticsReport, drawing: Drawing): string[] => {
  const { style, width } = drawing;
  const { series, topPages, sources } = report;
  const [first, last] = [series.at(0), series.at(-1)];
  const days = series.slice(-Math.max(1, Math.min(series.length, width - 2)));
  return [
    ...wrapped(clean(`${website}: ${count(report.visitors, 'visitor')}, ${count(report.pageviews, 'page view')}.`), width),
    ...(first === undefined || last === undefined
      ? []
      : [
          `  ${style.cyan(sparkline(days.map(({ visitors }) => visitors)))}`,
          style.dim(
            `  ${shortDay((days[0] ?? first).date, { ...drawing, timeZone: 'UTC' })} – ${shortDay(last.date, { ...drawing, timeZone: 'UTC' })}`,
          ),
        ]),
    ...(topPages.length === 0
      ? []
      : [
          '',
          style.bold('Pages'),
          ...ranking(
            topPages.map(({ page, visitors }) => [page, visitors]),
            drawing,
          ),
        ]),
    ...(sources.length === 0
      ? []
      : [
          '',
          style.bold('From'),
          ...ranking(
            sources.map(({ source, visitors }) => [source, visitors]),
            drawing,
          ),
        ]),
  ];
};

/** What the last scan found. */
export const seoLines = (website: string, { latest }: SeoReport, drawing: Drawing): string[] => {
  const { style, width } = drawing;
  if (latest === null) return [`${clean(website)} was not scanned yet.`];
  const { status, score, pages, findings = [], reason, requestedAt, finishedAt } = latest;
  const at = shortTime(finishedAt ?? requestedAt, drawing);
  const sentences = {
    queued: `${website}: a scan waits since ${at}.`,
    running: `${website} is being scanned since ${at}.`,
    completed: `${website}: ${String(score ?? 0)} of 100, ${count(pages ?? 0, 'page')} scanned on ${at}.`,
    failed: `${website}: the scan of ${at} failed${reason === undefined ? '' : `: ${reason}`}.`,
  };
  const marks = { error: style.red('✗'), warning: style.yellow('!'), notice: style.dim('·') };
  return [
    ...wrapped(clean(sentences[status]), width),
    ...findings.flatMap(({ severity, message, advice, affected }) => [
      ...wrapped(clean(`${message} (${count(affected, 'page')})`), width - 4).map(
        (line, index) => `  ${index === 0 ? marks[severity] : ' '} ${line}`,
      ),
      ...wrapped(clean(advice), width, '    ').map((line) => style.dim(line)),
    ]),
    ...(status === 'completed' && findings.length === 0 ? ['  Nothing to mend.'] : []),
  ];
};

/** The subscription and the invoices of a website. */
export const billingLines = (website: string, { subscription, invoices }: Billing, drawing: Drawing): string[] => {
  const { style, width } = drawing;
  const until =
    subscription?.currentPeriodEndsAt === undefined ? '' : `, paid until ${shortDay(subscription.currentPeriodEndsAt, drawing)}`;
  const totals = invoices.map(({ total, currency }) => money(total, currency));
  const column = widest(totals);
  return [
    clean(
      `${website}: ${subscription === null ? 'no subscription' : `subscription ${subscription.status.replaceAll('_', ' ')}${until}`}.`,
    ),
    ...invoices.map(({ status, description, createdAt, number }, index) => {
      const coloured = status === 'paid' ? style.green(pad(status, 13)) : style.yellow(pad(status, 13));
      const words = cut(clean(description ?? number ?? ''), Math.max(12, width - column - 32));
      return `  ${pad(totals[index] ?? '', column, true)}  ${coloured}  ${pad(shortDay(createdAt, drawing), 11)}  ${words}`;
    }),
  ];
};
