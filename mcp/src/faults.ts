import type { DoorstepError } from '@doorstep/sdk';
import { visible } from './quoting.js';

/** What to do next, by the code of an error. */
const nextByCode: Readonly<Record<string, string>> = {
  website_not_found: 'Call find_websites for the slugs that there are.',
  delivery_not_set_up: 'Call plan_delivery to set the delivery up.',
  delivery_checkpoint_not_found: 'Call website_status for the ids of the checkpoints.',
  client_not_found: 'Call explain_access for the people who have access.',
  website_archived: 'Restore it first, with change_website.',
  website_not_archived: 'change_website does that.',
  provisioning_not_failed: 'There is nothing to retry or to clean up: website_status says how the website stands.',
  provisioning_in_compensation: 'Wait until that is done: website_status says how the provisioning stands.',
  feature_off: 'An admin can switch the feature on in the portal, or give the website a tier that has it with change_website.',
  stale: 'Read it again, and base the change on what it is now.',
  slug_taken: 'Choose another slug.',
  read_only_token: 'Ask for a token that may write.',
};

/** Or else by its status. */
const nextByStatus = (status: number | undefined): string => {
  if (status === undefined)
    return 'Try again in a moment. Before a change is repeated, look with website_status whether it took effect.';
  if (status === 401) return 'The token is revoked, expired, or may not do this. Ask the person for another one.';
  if (status === 403) return 'The caller may not do this. An admin can call explain_access to see by which rule.';
  if (status === 404) return 'Look the ids up again: find_websites, website_status, explain_access or read_content list them.';
  if (status === 429) return 'Wait a moment, then try again.';
  if (status >= 500)
    return 'Try again in a moment. Before a change is repeated, look with website_status whether it took effect.';
  return 'Correct the arguments and call the tool again.';
};

/**
 * Whether an API call failed. Not by class: a program that is bundled with this package may bring an
 * SDK of its own.
 */
export const isApiFault = (error: unknown): error is DoorstepError =>
  error instanceof Error && 'requestId' in error && 'headers' in error && 'body' in error;

/** Whether an API call found nothing. */
export const isNotFound = (error: unknown): boolean => isApiFault(error) && error.status === 404;

/** Whether an API call found no delivery, or none yet at the time that it asked about. */
export const isNotSetUp = (error: unknown): boolean => isApiFault(error) && error.code === 'delivery_not_set_up';

/** The error of an API call as an assistant reads it: what is wrong, and what to do next. */
export const describeFault = (error: DoorstepError): string => {
  const suggestion = (error as { readonly suggestion?: string }).suggestion;
  const next =
    suggestion !== undefined ? `Did you mean ${suggestion}?` : (nextByCode[error.code ?? ''] ?? nextByStatus(error.status));
  const message = visible(error.message);
  return `${/[.!?]$/.test(message) ? message : `${message}.`} ${next}`;
};

/** An error of ours, with what to do next in its message. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault';
}
