import { setTimeout as pause } from 'node:timers/promises';
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import type gossip from '@eventstore/db-client/generated/gossip_pb.js';
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
} from '@grpc/grpc-js';
import { LEADER_PROBE_STREAM } from '../../../src/events/store/eventStoreDb/leaderProbe.js';
import type { FakeCluster, FakeSecurity } from './fakeEventStoreDb.js';
import { isHidden, type FakeEvent, type FakeExpectation, type FakeLog, type NewFakeEvent, type Written } from './fakeLog.js';
import {
  appendAnswer,
  appendManyAnswer,
  eventAnswer,
  expectationOf,
  expectationOfMany,
  proposedEvent,
  streamName,
  streamNotFound,
  type Fault,
} from './fakeStreams.js';
import { send, subscribe, tooSlow, type Reading } from './fakeSubscription.js';

type Appending = ServerReadableStream<messages.AppendReq, messages.AppendResp>;
type AppendCallback = sendUnaryData<messages.AppendResp>;
type AppendingMany = ServerDuplexStream<messages.BatchAppendReq, messages.BatchAppendResp>;

/** The outcome of an append, or the fault of the call. */
type AppendOutcome = Written | Fault;

const COLD_CALLS = 8;

/**
 * One node of the fake EventStoreDB: a gRPC server on a loopback port, made from the client's own
 * service definitions.
 */
export class FakeNode {
  readonly log: FakeLog;
  readonly #cluster: FakeCluster;
  #server: Server | null = null;
  port = 0;
  /** The advertised port, when a proxy stands in front of the node. */
  proxyPort: number | null = null;
  /**
   * Elected, but not the leader yet: it accepts no appends, and its reads lack the last event of
   * every stream, which is not indexed yet.
   */
  inaugurating = false;
  /** Calls that are not answered yet, without subscriptions. */
  #underWay = 0;
  readonly #ends = new Set<(error: object | null) => void>();

  constructor(log: FakeLog, cluster: FakeCluster) {
    this.log = log;
    this.#cluster = cluster;
  }

  get advertisedPort(): number {
    return this.proxyPort ?? this.port;
  }

  get up(): boolean {
    return this.#server !== null;
  }

  /** Listens, on the same port as before when it is started again. */
  async start(): Promise<void> {
    const server = new Server({ 'grpc.max_receive_message_length': 20_000_000 });
    const calls = this.#cluster.calls;
    const streams = {
      read: (call: Reading) => {
        calls.read += 1;
        void this.#read(call);
      },
      append: (call: Appending, answer: AppendCallback) => {
        void this.#append(call, answer);
      },
      batchAppend: (call: AppendingMany) => {
        calls.appendStreams += 1;
        this.#appendMany(call);
      },
      delete: unsupported,
      tombstone: unsupported,
    };
    server.addService(streamsService.StreamsService, streams);
    server.addService(featuresService.ServerFeaturesService, {
      getSupportedMethods: (_call: unknown, answer: sendUnaryData<features.SupportedMethods>) => {
        const batch = new features.SupportedMethod();
        batch.setServiceName('event_store.client.streams.Streams').setMethodName('BatchAppend');
        answer(null, new features.SupportedMethods().setEventStoreServerVersion('23.10.0').setMethodsList([batch]));
      },
    });
    server.addService(gossipService.GossipService, {
      read: (_call: unknown, answer: sendUnaryData<gossip.ClusterInfo>) => {
        answer(null, this.#cluster.gossip());
      },
    });
    const { security } = this.#cluster;
    const credentials =
      security === null
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(null, [{ cert_chain: security.certificate, private_key: security.key }]);
    this.port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${this.port}`, credentials, (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
    this.#server = server;
  }

  /** Stops as if killed: connections break. Committed events stay. */
  stop(): void {
    this.#server?.forceShutdown();
    this.#server = null;
    this.#ends.clear();
    this.log.forgetRecent();
  }

  /** Ends every subscription with the real server's error for a slow consumer. */
  dropSubscriptions(): void {
    for (const end of [...this.#ends]) end(tooSlow());
  }

  endSubscriptions(): void {
    for (const end of [...this.#ends]) end(null);
  }

  /** The real server's refusal of a call, or `null` when it accepts the call. */
  #refusal(metadata: Metadata, write = false): Fault | null {
    const { faults, leader, security } = this.#cluster;
    if (faults.refuseWith !== null) return faults.refuseWith;
    const given = metadata.get('authorization')[0];
    if (given !== undefined) this.#cluster.calls.withPassword += 1;
    if (security !== null && given !== basic(security)) return { code: status.UNAUTHENTICATED, details: 'Unauthenticated' };
    if (write && this.inaugurating) return { code: status.UNAVAILABLE, details: 'Server Is Not Ready' };
    if (leader === this || metadata.get('requires-leader')[0] !== 'true') return null;
    if (leader === null) return { code: status.UNAVAILABLE, details: 'Server Is Not Ready' };
    const trailers = new Metadata();
    trailers.set('exception', 'not-leader');
    trailers.set('leader-endpoint-host', '127.0.0.1');
    trailers.set('leader-endpoint-port', String(leader.advertisedPort));
    return { code: status.NOT_FOUND, details: 'Leader info available', metadata: trailers };
  }

  /** Runs `answer`, late while the node is cold. */
  async #answer(answer: () => Promise<void> | void): Promise<void> {
    const { cold } = this.#cluster.faults;
    this.#underWay += 1;
    try {
      // Those that are under way at the same time have come then.
      if (cold.calls > 0) await pause(10);
      if (cold.calls > 0 && this.#underWay > COLD_CALLS) {
        cold.calls -= 1;
        await pause(cold.ms);
      }
      await answer();
    } finally {
      this.#underWay -= 1;
    }
  }

  async #append(call: Appending, answer: AppendCallback): Promise<void> {
    const { faults } = this.#cluster;
    const requests: messages.AppendReq[] = [];
    try {
      for await (const request of call) requests.push(request as messages.AppendReq);
    } catch {
      return; // the caller has gone
    }
    const options = requests[0]?.getOptions() ?? new messages.AppendReq.Options();
    const stream = streamName(options.getStreamIdentifier());
    const isProbe = stream === LEADER_PROBE_STREAM;
    if (isProbe) this.#cluster.calls.leaderProbes += 1;
    else this.#cluster.calls.append += 1;
    if (faults.silent) return;
    const refusal = this.#refusal(call.metadata, true);
    if (refusal !== null) {
      answer(refusal);
      return;
    }
    const proposals = requests.slice(1).map((request) => request.getProposedMessage());
    const events = proposals.filter((message) => message !== undefined).map(proposedEvent);
    const reply = (outcome: AppendOutcome): void => {
      if ('written' in outcome) answer(null, appendAnswer(outcome));
      else answer(outcome);
    };
    if (isProbe) reply(this.log.append(stream, events, expectationOf(options)));
    else
      await this.#answer(() => {
        this.#write(stream, events, expectationOf(options), reply);
      });
  }

  /** Appends that share a call: each is answered when it is written, and found by its id. */
  #appendMany(call: AppendingMany): void {
    // A caller that goes away is not an error here.
    call.on('error', () => undefined);
    const { calls, faults } = this.#cluster;
    call.on('data', (request: messages.BatchAppendReq) => {
      const options = request.getOptions() ?? new messages.BatchAppendReq.Options();
      calls.append += 1;
      if (faults.silent) return;
      const reply = (outcome: AppendOutcome): void => {
        // The server ends the whole call when it is not the leader any more, or does not know the caller.
        if (
          'code' in outcome &&
          (outcome.metadata?.get('exception')[0] === 'not-leader' || outcome.code === status.UNAUTHENTICATED)
        )
          call.emit('error', outcome);
        else if (!call.cancelled) call.write(appendManyAnswer(request, outcome));
      };
      const refusal = this.#refusal(call.metadata, true);
      if (refusal !== null) {
        reply(refusal);
        return;
      }
      const events = request.getProposedMessagesList().map(proposedEvent);
      void this.#answer(() => {
        this.#write(streamName(options.getStreamIdentifier()), events, expectationOfMany(options), reply);
      });
    });
    call.on('end', () => call.end());
  }

  #write(
    stream: string,
    events: readonly NewFakeEvent[],
    expected: FakeExpectation,
    reply: (outcome: AppendOutcome) => void,
  ): void {
    const { faults } = this.#cluster;
    // The real server counts data only, although it means to count metadata and types too.
    const size = events.reduce((sum, { data }) => sum + data.length, 0);
    if (size > faults.maxAppendSize) {
      reply(tooLarge(faults.maxAppendSize));
      return;
    }
    this.#cluster.calls.written.push(events.map(({ data, metadata }) => ({ data, metadata })));
    const outcome = this.log.append(stream, events, expected);
    switch (faults.answers) {
      case 'given':
        reply(outcome);
        return;
      case 'lost':
        return;
      case 'late':
        this.#cluster.late.push(() => {
          reply(outcome);
        });
        return;
      case 'twice':
        reply(outcome);
        reply(outcome);
        return;
      case 'timed out':
        reply({ code: status.DEADLINE_EXCEEDED, details: 'Deadline Exceeded' });
        return;
    }
  }

  async #read(call: Reading): Promise<void> {
    // A caller that goes away is not an error here.
    call.on('error', () => undefined);
    const { faults } = this.#cluster;
    if (faults.silent) return;
    const refusal = this.#refusal(call.metadata);
    if (refusal !== null) {
      call.emit('error', refusal);
      return;
    }
    const options = call.request.getOptions() ?? new messages.ReadReq.Options();
    if (options.hasSubscription()) {
      await subscribe(call, options, this.#cluster, this.#ends);
      return;
    }
    await this.#answer(() => (options.hasStream() ? this.#readStream(call, options) : this.#readAll(call, options)));
  }

  async #readStream(call: Reading, options: messages.ReadReq.Options): Promise<void> {
    const of = options.getStream();
    const name = streamName(of?.getStreamIdentifier());
    const all = this.log.stream(name);
    const events = this.inaugurating ? all.slice(0, -1) : all;
    const count = Number(options.getCount());
    if (events.length === 0) {
      call.write(streamNotFound(name));
      call.end();
      return;
    }
    const backwards = options.getReadDirection() === messages.ReadReq.Options.ReadDirection.BACKWARDS;
    const from = of?.hasEnd() === true ? events.length - 1 : Number(of?.getRevision() ?? 0);
    const first = this.log.firstOf(name);
    const ranged = backwards
      ? // Counts back from `from` even if it lies beyond the end, as the real one does.
        events.slice(Math.max(0, from - count + 1), from + 1).toReversed()
      : events.slice(Math.max(from, Number(first)), Math.max(from, Number(first)) + count);
    const selected = ranged.filter(({ revision }) => revision >= first);
    const { pauseMs } = this.#cluster.faults;
    for (const event of selected) {
      if (pauseMs > 0) await pause(pauseMs);
      if (call.cancelled) return;
      await send(call, eventAnswer(event));
    }
    if ((options.getControlOption()?.getCompatibility() ?? 0) >= 1 && this.#cluster.faults.sendsHead)
      call.write(new messages.ReadResp().setLastStreamPosition(String(events.length - 1)));
    call.end();
  }

  /** The first events from a position on, or the last ones, backwards. */
  async #readAll(call: Reading, options: messages.ReadReq.Options): Promise<void> {
    const count = Number(options.getCount());
    const from = BigInt(options.getAll()?.getPosition()?.getCommitPosition() ?? 0);
    const backwards = options.getReadDirection() === messages.ReadReq.Options.ReadDirection.BACKWARDS;
    const { events } = this.log;
    const selected: FakeEvent[] = [];
    let index = backwards ? events.length - 1 : this.log.indexOf(from);
    for (let event = events[index]; event !== undefined && selected.length < count; event = events[index]) {
      if (!isHidden(event)) selected.push(event);
      index += backwards ? -1 : 1;
    }
    for (const event of selected) await send(call, eventAnswer(event));
    call.end();
  }
}

const unsupported = (_call: unknown, answer: sendUnaryData<never>): void => {
  answer({ code: status.UNIMPLEMENTED, details: 'not part of the fake' });
};

const basic = ({ user, password }: FakeSecurity): string => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

const tooLarge = (limit: number): Fault => {
  const trailers = new Metadata();
  trailers.set('exception', 'maximum-append-size-exceeded');
  trailers.set('maximum-append-size', String(limit));
  return {
    code: status.INVALID_ARGUMENT,
    details: `Maximum Append Size of ${String(limit)} Exceeded.`,
    metadata: trailers,
  };
};
