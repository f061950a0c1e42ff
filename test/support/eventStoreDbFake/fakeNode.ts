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
  type ServerReadableStream,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import type { FakeCluster } from './fakeEventStoreDb.js';
import type { FakeEvent, FakeLog } from './fakeLog.js';
import {
  appendAnswer,
  caughtUp,
  checkpointAnswer,
  confirmation,
  eventAnswer,
  expectationOf,
  filterOf,
  proposedEvent,
  streamName,
  streamNotFound,
} from './fakeStreams.js';

type Reading = ServerWritableStream<messages.ReadReq, messages.ReadResp>;
type Appending = ServerReadableStream<messages.AppendReq, messages.AppendResp>;
type AppendCallback = sendUnaryData<messages.AppendResp>;

/** Events that the real server reads at once, and messages of a subscription that it holds before it calls the consumer too slow. */
const PAGE = 32;
/** The real server's default. */
const MAX_APPEND_SIZE = 1_048_576;

/** One node of the fake EventStoreDB: a gRPC server on a loopback port, made from the client's own service definitions. */
export class FakeNode {
  readonly log: FakeLog;
  readonly #cluster: FakeCluster;
  #server: Server | null = null;
  port = 0;
  readonly #ends = new Set<(error: object) => void>();

  constructor(log: FakeLog, cluster: FakeCluster) {
    this.log = log;
    this.#cluster = cluster;
  }

  get up(): boolean {
    return this.#server !== null;
  }

  /** Listens; on the same port as before when it is started again. */
  async start(): Promise<void> {
    const server = new Server({ 'grpc.max_receive_message_length': 20_000_000 });
    const calls = this.#cluster.calls;
    const streams = {
      read: (call: Reading) => {
        calls.read += 1;
        void this.#read(call);
      },
      append: (call: Appending, answer: AppendCallback) => {
        calls.append += 1;
        void this.#append(call, answer);
      },
      batchAppend: () => {
        calls.batchAppend += 1;
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
    this.port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${this.port}`, ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
    this.#server = server;
  }

  /** As if killed: connections break off. What was committed stays. */
  stop(): void {
    this.#server?.forceShutdown();
    this.#server = null;
    this.#ends.clear();
    this.log.forgetRecent();
  }

  /** Ends every subscription, with what the real server says to a consumer that lags. */
  dropSubscriptions(): void {
    for (const end of [...this.#ends]) end(tooSlow());
  }

  /** What the real server answers before it does anything; `null` when it does what is asked. */
  #refusal(metadata: Metadata): object | null {
    const { faults, leader } = this.#cluster;
    if (faults.refuseWith !== null) return faults.refuseWith;
    if (leader === this || metadata.get('requires-leader')[0] !== 'true') return null;
    if (leader === null) return { code: status.UNAVAILABLE, details: 'Server Is Not Ready' };
    const trailers = new Metadata();
    trailers.set('exception', 'not-leader');
    trailers.set('leader-endpoint-host', '127.0.0.1');
    trailers.set('leader-endpoint-port', String(leader.port));
    return { code: status.NOT_FOUND, details: 'Leader info available', metadata: trailers };
  }

  async #append(call: Appending, answer: AppendCallback): Promise<void> {
    const { faults } = this.#cluster;
    const requests: messages.AppendReq[] = [];
    try {
      for await (const request of call) requests.push(request as messages.AppendReq);
    } catch {
      return; // the caller has gone
    }
    if (faults.silent) return;
    const refusal = this.#refusal(call.metadata);
    if (refusal !== null) {
      answer(refusal);
      return;
    }
    const options = requests[0]?.getOptions() ?? new messages.AppendReq.Options();
    const proposals = requests.slice(1).map((request) => request.getProposedMessage());
    const events = proposals.filter((message) => message !== undefined).map(proposedEvent);
    const size = events.reduce((sum, { type, data, metadata }) => sum + type.length * 2 + data.length + metadata.length, 0);
    if (size > MAX_APPEND_SIZE) {
      answer(tooLarge());
      return;
    }
    this.#cluster.calls.written.push(events.map(({ data, metadata }) => ({ data, metadata })));
    const outcome = this.log.append(streamName(options.getStreamIdentifier()), events, expectationOf(options));
    switch (faults.answers) {
      case 'given':
        answer(null, appendAnswer(outcome));
        return;
      case 'lost':
        return;
      case 'late':
        this.#cluster.late.push(() => {
          answer(null, appendAnswer(outcome));
        });
        return;
      case 'twice':
        answer(null, appendAnswer(outcome));
        answer(null, appendAnswer(outcome));
        return;
      case 'timed out':
        answer({ code: status.DEADLINE_EXCEEDED, details: 'Deadline Exceeded' });
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
    if (options.hasSubscription()) await this.#subscribe(call, options);
    else if (options.hasStream()) await this.#readStream(call, options);
    else await this.#readAll(call, options);
  }

  async #readStream(call: Reading, options: messages.ReadReq.Options): Promise<void> {
    const of = options.getStream();
    const name = streamName(of?.getStreamIdentifier());
    const events = this.log.stream(name);
    const count = Number(options.getCount());
    if (events.length === 0) {
      call.write(streamNotFound(name));
      call.end();
      return;
    }
    const backwards = options.getReadDirection() === messages.ReadReq.Options.ReadDirection.BACKWARDS;
    const from = of?.hasEnd() === true ? events.length - 1 : Number(of?.getRevision() ?? 0);
    const selected = backwards
      ? // From beyond the end, it counts back from there, as the real one does.
        events.slice(Math.max(0, from - count + 1), from + 1).toReversed()
      : events.slice(from, from + count);
    for (const event of selected) await send(call, eventAnswer(event));
    if ((options.getControlOption()?.getCompatibility() ?? 0) >= 1 && this.#cluster.faults.tellsHead)
      call.write(new messages.ReadResp().setLastStreamPosition(String(events.length - 1)));
    call.end();
  }

  /** The first events from a position on, or the last ones, backwards. */
  async #readAll(call: Reading, options: messages.ReadReq.Options): Promise<void> {
    const { events } = this.log;
    const count = Number(options.getCount());
    const start = this.log.indexOf(BigInt(options.getAll()?.getPosition()?.getCommitPosition() ?? 0));
    const backwards = options.getReadDirection() === messages.ReadReq.Options.ReadDirection.BACKWARDS;
    const selected = backwards ? events.slice(-count).toReversed() : events.slice(start, start + count);
    for (const event of selected) await send(call, eventAnswer(event));
    call.end();
  }

  async #subscribe(call: Reading, options: messages.ReadReq.Options): Promise<void> {
    const { calls } = this.#cluster;
    const filter = options.getFilter();
    const passes = filterOf(options);
    const from = options.getAll()?.getPosition()?.getCommitPosition();
    calls.subscriptions.push({ after: BigInt(from ?? 0), filter: filter?.toObject() ?? null });
    const interval = (filter?.getMax() ?? PAGE) * (filter?.getCheckpointintervalmultiplier() ?? 1);
    let considered = 0;
    let over = false;
    const ended = (): boolean => over;
    const live: messages.ReadResp[] = [];
    let wake = (): void => undefined;

    const end = (error: object): void => {
      if (ended()) return;
      over = true;
      stopListening();
      this.#ends.delete(end);
      call.emit('error', error);
    };
    const onEvent = (event: FakeEvent): void => {
      if (this.#cluster.faults.mute) return;
      considered += 1;
      if (passes(event)) live.push(eventAnswer(event));
      else if (filter !== undefined && considered % interval === 0) live.push(checkpointAnswer(event.position));
      if (live.length > PAGE * 100) end(tooSlow());
      wake();
    };
    let stopListening = (): void => undefined;
    this.#ends.add(end);
    call.on('cancelled', () => {
      over = true;
      stopListening();
      this.#ends.delete(end);
      wake();
    });

    call.write(confirmation());
    // The event at the position, or the next one when that is gone, counts as seen.
    let index = from === undefined ? 0 : this.log.indexOf(BigInt(from)) + 1;
    while (index < this.log.events.length && !ended()) {
      const page = this.log.events.slice(index, index + (filter === undefined ? PAGE : Math.min(interval, 1_000)));
      let position = page[0]?.position ?? 0n;
      for (const event of page) {
        if (ended()) return;
        if (!passes(event)) continue;
        ({ position } = event);
        await send(call, eventAnswer(event));
      }
      index += page.length;
      considered += page.length;
      if (filter !== undefined && considered >= interval && index < this.log.events.length) {
        considered %= interval;
        await send(call, checkpointAnswer(position));
      }
    }
    if (ended()) return;
    stopListening = this.log.listen(onEvent);
    await send(call, caughtUp());
    for (;;) {
      for (let next = live.shift(); next !== undefined && !ended(); next = live.shift()) await send(call, next);
      if (ended()) return;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }
}

/** Writes, and waits while the reader is slow. */
const send = async (call: Reading, answer: messages.ReadResp): Promise<void> => {
  if (call.write(answer) || call.cancelled) return;
  await new Promise<void>((resolve) => {
    const goOn = (): void => {
      call.off('drain', goOn).off('cancelled', goOn);
      resolve();
    };
    call.on('drain', goOn).on('cancelled', goOn);
  });
};

const unsupported = (_call: unknown, answer: sendUnaryData<never>): void => {
  answer({ code: status.UNIMPLEMENTED, details: 'not part of the fake' });
};

const tooSlow = (): object => ({
  code: status.ABORTED,
  details: 'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.',
});

const tooLarge = (): object => {
  const trailers = new Metadata();
  trailers.set('exception', 'maximum-append-size-exceeded');
  trailers.set('maximum-append-size', String(MAX_APPEND_SIZE));
  return {
    code: status.INVALID_ARGUMENT,
    details: `Maximum Append Size of ${String(MAX_APPEND_SIZE)} Exceeded.`,
    metadata: trailers,
  };
};
