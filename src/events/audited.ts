import { personKeyOf } from '../platform/personal.js';
import { subjectKeysStream } from './apiKey/apiKey.stream.js';
import { streams } from './catalogue.js';
import { clientEmailStream } from './client/client.stream.js';
import type { StreamDefinition } from './defineStream.js';
import { deploymentLeaseStream } from './deployment/deploymentLease.stream.js';
import type { JsonValue } from './envelope.js';
import { logStream } from './log/log.stream.js';
import type { webhookEvents } from './webhook/webhook.events.js';
import { webhookContentStream } from './webhook/webhook.stream.js';
import { slugStream } from './website/website.stream.js';

/** Their events only reserve, count or name something for another event, which is audited. */
const reservations: readonly StreamDefinition[] = [
  logStream,
  slugStream,
  clientEmailStream,
  subjectKeysStream,
  webhookContentStream,
  deploymentLeaseStream,
];

/** With `leaseUntil` an event says which process works on something, not that anything changed. */
const isLease = (schema: object): boolean => JSON.stringify(schema).includes('"leaseUntil"');

/** Nothing was done about it, by anybody. */
const ignoredWebhook: keyof typeof webhookEvents = 'WebhookIgnored';

/**
 * The event types that an audit lists: each change by anybody, and what processes achieved or failed
 * to. New types are listed unless they are leases, or of a stream of `reservations`.
 */
export const auditedTypes: readonly string[] = streams
  .filter((stream) => !reservations.includes(stream))
  .flatMap(({ events }) => Object.entries(events))
  .filter(([type, { schema }]) => !isLease(schema) && type !== ignoredWebhook)
  .map(([type]) => type);

/** The keys of the people whose personal data stands anywhere in the data of an event. */
export const personKeysIn = (value: JsonValue): readonly string[] => {
  const keys: string[] = [];
  addPersonKeys(value, keys);
  return keys;
};

const addPersonKeys = (value: JsonValue, keys: string[]): void => {
  if (typeof value === 'string') {
    const key = personKeyOf(value);
    if (key !== undefined) keys.push(key);
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) addPersonKeys(part, keys);
  }
};
