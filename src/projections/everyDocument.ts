import type { DomainEvent, JsonObject } from '../events/envelope.js';
import type { Projection } from './projection.js';
import type { Reader } from './reader.js';

const pageSize = 200;

/** Every document that matches, newest first. */
export const everyDocument = async <Document extends JsonObject, Event extends DomainEvent>(
  reader: Reader,
  projection: Projection<Document, Event>,
  where: Readonly<Record<string, string | readonly string[]>>,
): Promise<Document[]> => {
  const found: Document[] = [];
  for (let after: string | undefined; ;) {
    const query = { where, order: 'descending', limit: pageSize, ...(after !== undefined && { after }) } as const;
    const page = await reader.list(projection, query);
    found.push(...page.map(({ body }) => body));
    if (page.length < pageSize) return found;
    await reader.giveWay();
    after = page.at(-1)?.id;
  }
};
