import { Type, type Static, type TObject } from 'typebox';
import { event, type EventOf } from '../defineStream.js';
import { Attempt, attemptFailure, leaseRenewal, leaseStart } from '../fields.js';

const ofScan = { websiteId: Type.String(), scanId: Type.String() };

export const SeoScanTrigger = Type.Enum(['request', 'schedule']);

/** Something to be changed, in words for people. */
export const SeoFinding = Type.Object({
  rule: Type.String(),
  severity: Type.Enum(['error', 'warning', 'notice']),
  /** What is wrong. */
  message: Type.String(),
  /** What to change. */
  advice: Type.String(),
  /**
   * How many pages are affected, and the addresses of the first few; none when it is the site as a
   * whole.
   */
  affected: Type.Integer({ minimum: 0 }),
  pages: Type.Array(Type.String()),
});
export type SeoFinding = Static<typeof SeoFinding>;

/**
 * What an LLM answers to a person who searches for such a business, and what it says about this
 * one.
 */
export const SeoProbes = Type.Object({
  status: Type.Enum(['answered', 'notConfigured', 'failed']),
  /** Why they failed. */
  reason: Type.Optional(Type.String()),
  answers: Type.Array(Type.Object({ question: Type.String(), answer: Type.String(), named: Type.Boolean() })),
  description: Type.Optional(Type.String()),
});
export type SeoProbes = Static<typeof SeoProbes>;

const result = {
  /** The address that the home page was found at. */
  url: Type.String(),
  /** 0 to 100. */
  score: Type.Integer({ minimum: 0, maximum: 100 }),
  pages: Type.Integer({ minimum: 1 }),
  /** Whether every page that was found was scanned. */
  complete: Type.Boolean(),
  findings: Type.Array(SeoFinding),
  probes: SeoProbes,
};
export type SeoScanResult = Static<TObject<typeof result>>;

/** Stream `seo-<websiteId>`: one scan after the other. */
export const seoEvents = {
  SeoScanRequested: event(Type.Object({ ...ofScan, url: Type.String(), trigger: SeoScanTrigger })),
  SeoScanStarted: event(Type.Object({ ...ofScan, ...leaseStart })),
  SeoScanLeaseRenewed: event(Type.Object({ ...ofScan, ...leaseRenewal })),
  SeoScanCompleted: event(Type.Object({ ...ofScan, attempt: Attempt, ...result })),
  SeoScanAttemptFailed: event(Type.Object({ ...ofScan, ...attemptFailure })),
  SeoScanFailed: event(Type.Object({ ...ofScan, reason: Type.String() })),
};

export type SeoEvent = EventOf<typeof seoEvents>;
