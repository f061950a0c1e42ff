/** Days as in 2026-12-22, both included, in UTC as the service counts them. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** How many days one may look back. */
export const spans = [7, 30, 90, 365] as const;

export type Span = (typeof spans)[number];

/** The one in the address, else a month. */
export const spanOf = (text: string | null): Span => spans.find((span) => String(span) === text) ?? 30;

const dayMs = 86_400_000;

const dayText = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The last days up to today. */
export const rangeOf = (span: Span, now = Date.now()): Range => ({ from: dayText(now - (span - 1) * dayMs), to: dayText(now) });

/** As many days right before. */
export const rangeBefore = ({ from }: Range, span: Span): Range => ({
  from: dayText(Date.parse(from) - span * dayMs),
  to: dayText(Date.parse(from) - dayMs),
});
