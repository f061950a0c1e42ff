import { test } from '@jest/globals';

export interface RealServer {
  readonly name: string;
  readonly url: string;
}

const found = JSON.parse(process.env['REAL_SERVERS'] ?? '{}') as Partial<
  Readonly<Record<'readModels' | 'eventStores', readonly RealServer[]>>
>;

/** Runs `suite` for each server; where there is none, one skipped test says so. */
const forEachOf = (engine: string, servers: readonly RealServer[] | undefined, suite: (server: RealServer) => void): void => {
  if (servers === undefined || servers.length === 0)
    test.skip(`there is no ${engine} here: see test/support/serversStart.mjs`, () => undefined);
  for (const server of servers ?? []) suite(server);
};

/**
 * Servers that speak MongoDB's wire, of which CI has at least one. Use `mongoDatabase` for a
 * database on them.
 */
export const forEachReadModelServer = (suite: (server: RealServer) => void): void => {
  forEachOf('MongoDB or compatible server', found.readModels, suite);
};

/** Real EventStoreDB servers. */
export const forEachEventStoreServer = (suite: (server: RealServer) => void): void => {
  forEachOf('EventStoreDB server', found.eventStores, suite);
};
