import type { DomainEvent, JsonObject } from '../events/envelope.js';
import type { Projection } from './projection.js';
import type { Reader } from './reader.js';

const pageSize = 200;

type Where = Readonly<Record<string, string | readonly string[]>>;

/** Every document that matches, newest first. */
export const everyDocument = async <Document extends JsonObject, Event extends DomainEvent>(
  reader: Reader,
  projection: Projection<Document, Event>,
  where: Where,
): Promise<Document[]> => {
  const found: Document[] = [];
  for await (const document of eachDocument(reader, projection, where)) found.push(document);
  return found;
};

/** As `everyDocument`, for as many as do not fit into memory. */
export async function* eachDocument<Document extends JsonObject, Event extends DomainEvent>(
  reader: Reader,
  projection: Projection<Document, Event>,
  where: Where,
): AsyncGenerator<Document, void> {
  for (let after: string | undefined; ;) {
    const query = { where, order: 'descending', limit: pageSize, ...(after !== undefined && { after }) } as const;
    const page = await reader.list(projection, query);
    for (const { body } of page) yield body;
    if (page.length < pageSize) return;
    await reader.giveWay();
    after = page.at(-1)?.id;
  }
}
