import { EventStoreDBClient } from '@eventstore/db-client';
import type streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { CallOptions, Metadata } from '@grpc/grpc-js';
import { invalidAddress } from './address.js';

/** The parts of the client library that the adapter uses. */

export type StreamsClient = InstanceType<typeof streams.StreamsClient>;

/**
 * Metadata and options of each call: credentials, that the leader is required, and no gRPC
 * deadline.
 */
export type CallArguments = [metadata: Metadata, options: CallOptions];

/**
 * Protected methods of the library. This is safe because its version is pinned and the contract
 * suite calls each of them.
 */
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

/**
 * @throws Error when `address` is not a connection string or names a file that is missing; the
 * message never holds a password
 */
export const makeClient = (address: string): EventStoreDBClient => {
  let cause: unknown;
  try {
    return EventStoreDBClient.connectionString(address);
  } catch (error) {
    // A parse error is not kept as the cause, because it quotes a part of the address, which may be
    // the password.
    if (error instanceof Error && !('connectionString' in error)) cause = error;
  }
  throw invalidAddress(cause);
};
