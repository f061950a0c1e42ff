import type { PlannedEvent } from './context.js';
import { clean } from './output.js';

/** `CheckpointStatusSet` → `Checkpoint status set`. */
const inWords = (type: string): string => {
  const words = type.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const shown = (value: unknown): string => clean(typeof value === 'string' ? value : JSON.stringify(value));

/** What a dry run would have done, for every command without a wording of its own. */
export const explainEvents = (events: readonly PlannedEvent[]): string[] => {
  if (events.length === 0) return ['Would change nothing.'];
  return [
    `Would change ${String(events.length)} ${events.length === 1 ? 'thing' : 'things'}:`,
    ...events.flatMap(({ type, data }) => [
      `  ${inWords(type)}`,
      ...Object.entries(data).map(([name, value]) => `    ${name}: ${shown(value)}`),
    ]),
  ];
};
