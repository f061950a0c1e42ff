import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { FakeLog } from './fakeLog.js';
import { FakeNode } from './fakeNode.js';

/** The faults of the fake, each as long as it is set. */
export interface FakeFaults {
  /** Accepts connections and requests, and answers none. */
  silent: boolean;
  /** Subscriptions receive nothing any more, without an error. */
  mute: boolean;
  /** Every request is refused with this, before anything is done. */
  refuseWith: { readonly code: number; readonly details: string } | null;
  /**
   * What happens to the answer to a written append. `late`: it is sent when `answerLate` is called.
   */
  answers: 'given' | 'lost' | 'late' | 'twice' | 'timed out';
  /** Whether a read includes the stream's head, as it does since version 21.10. */
  sendsHead: boolean;
  /** Bytes of data in one append; the real server's default. */
  maxAppendSize: number;
  /**
   * As a server that was just started: of calls beside more than 8 others, the next `calls` are
   * answered only after `ms`.
   */
  cold: { calls: number; readonly ms: number };
  /** How long it pauses before each event of a stream that is read. */
  pauseMs: number;
}

/** Certificate and credentials of a server that does not run with `--insecure`. */
export interface FakeSecurity {
  readonly certificate: Buffer;
  readonly key: Buffer;
  readonly user: string;
  readonly password: string;
}

/** The calls that the fake received. */
export interface FakeCalls {
  read: number;
  /** Each append, on a call of its own or not. */
  append: number;
  /** Calls that appends share. */
  appendStreams: number;
  /** Leader probes, which are appends that a leader refuses. */
  leaderProbes: number;
  /** Calls that carried a password. */
  withPassword: number;
  readonly subscriptions: { readonly after: bigint; readonly filter: object | null }[];
  readonly written: (readonly { readonly data: Uint8Array; readonly metadata: Uint8Array }[])[];
}

/**
 * A fake EventStoreDB, one node or several, for tests. It speaks the real protocol over loopback
 * ports and behaves as the real server was observed to do (expected revisions, repetition by event
 * id, filters, checkpoints, leaders), with faults on demand. Its log is in memory, so it shows how
 * the adapter uses the protocol, and nothing about durability.
 */
export class FakeCluster {
  readonly log = new FakeLog();
  readonly faults: FakeFaults = {
    silent: false,
    mute: false,
    refuseWith: null,
    answers: 'given',
    sendsHead: true,
    maxAppendSize: 1_048_576,
    cold: { calls: 0, ms: 0 },
    pauseMs: 0,
  };
  readonly calls: FakeCalls = {
    read: 0,
    append: 0,
    appendStreams: 0,
    leaderProbes: 0,
    withPassword: 0,
    subscriptions: [],
    written: [],
  };
  /** Answers that are held back. */
  readonly late: (() => void)[] = [];
  readonly nodes: readonly FakeNode[];
  leader: FakeNode | null;
  readonly security: FakeSecurity | null;

  private constructor(size: number, security: FakeSecurity | null) {
    this.security = security;
    this.nodes = Array.from({ length: size }, () => new FakeNode(this.log, this));
    this.leader = this.nodes[0] ?? null;
    this.log.writeSystemEvent();
  }

  static async start(size = 1, security: FakeSecurity | null = null): Promise<FakeCluster> {
    const cluster = new FakeCluster(size, security);
    await Promise.all(cluster.nodes.map((node) => node.start()));
    return cluster;
  }

  get hosts(): string {
    return this.nodes.map((node) => `127.0.0.1:${String(node.advertisedPort)}`).join(',');
  }

  /** The value of `EVENT_STORE_URL` for a server without TLS and credentials. */
  get url(): string {
    return `esdb://${this.hosts}?tls=false${this.nodes.length > 1 ? '&nodePreference=leader&discoveryInterval=20' : ''}`;
  }

  stop(): void {
    for (const node of this.nodes) node.stop();
  }

  /** Starts the stopped nodes again, on the same ports and with the committed log. */
  async restart(): Promise<void> {
    await Promise.all(this.nodes.filter(({ up }) => !up).map((node) => node.start()));
  }

  /** Ends every subscription as too slow. */
  dropSubscriptions(): void {
    for (const node of this.nodes) node.dropSubscriptions();
  }

  /** Ends every subscription without an error. */
  endSubscriptions(): void {
    for (const node of this.nodes) node.endSubscriptions();
  }

  /** Sends the answers that were held back. */
  answerLate(): void {
    for (const answer of this.late.splice(0)) answer();
  }

  /** The cluster's members, as every node reports them. */
  gossip(): gossip.ClusterInfo {
    const { VNodeState } = gossip.MemberInfo;
    const members = this.nodes.map((node, index) =>
      new gossip.MemberInfo()
        .setInstanceId(new shared.UUID().setString(`00000000-0000-4000-8000-00000000000${String(index)}`))
        .setTimeStamp('0')
        .setIsAlive(node.up)
        .setState(node !== this.leader ? VNodeState.FOLLOWER : node.inaugurating ? VNodeState.PRELEADER : VNodeState.LEADER)
        .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(node.advertisedPort)),
    );
    return new gossip.ClusterInfo().setMembersList(members);
  }
}
