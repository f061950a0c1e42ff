import type { PlannedEvent } from './context.js';
import { clean } from './output.js';
import { sentence } from './views/words.js';

const shown = (value: unknown): string => clean(typeof value === 'string' ? value : JSON.stringify(value));

/** What a dry run would have done, for every command without a wording of its own. */
export const explainEvents = (events: readonly PlannedEvent[]): string[] => {
  if (events.length === 0) return ['Would change nothing.'];
  return [
    `Would change ${String(events.length)} ${events.length === 1 ? 'thing' : 'things'}:`,
    ...events.flatMap(({ type, data }) => [
      `  ${sentence(type)}`,
      ...Object.entries(data).map(([name, value]) => `    ${name}: ${shown(value)}`),
    ]),
  ];
};
