import { EventStoreDBClient } from '@eventstore/db-client';
import type streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { CallOptions, Metadata } from '@grpc/grpc-js';
import { notAnAddress } from './address.js';

/** What is used of the client library. */

export type StreamsClient = InstanceType<typeof streams.StreamsClient>;

/** Metadata and options that each call carries: credentials, the wish for the leader, no deadline of gRPC's. */
export type CallArguments = [metadata: Metadata, options: CallOptions];

/** What the library calls protected. Its version is pinned, and the contract suite runs over each of these. */
export interface ClientInside {
  execute<Result>(
    service: typeof streams.StreamsClient,
    name: string,
    action: (client: StreamsClient) => Promise<Result>,
  ): Promise<Result>;
  callArguments(options: { readonly requiresLeader: boolean }, callOptions: CallOptions): CallArguments;
  handleError(client: StreamsClient, fault: unknown): Promise<void>;
}

export const insideOf = (client: EventStoreDBClient): ClientInside => client as unknown as ClientInside;

/** @throws Error when `address` is not a connection string, or names a file that is not there; what it says holds no part of a password */
export const makeClient = (address: string): EventStoreDBClient => {
  let cause: unknown;
  try {
    return EventStoreDBClient.connectionString(address);
  } catch (error) {
    // What is wrong with the text is told with a part of it, which may be the password.
    if (error instanceof Error && !('connectionString' in error)) cause = error;
  }
  throw notAnAddress(cause);
};
