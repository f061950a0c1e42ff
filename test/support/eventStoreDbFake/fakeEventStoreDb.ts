import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { FakeLog } from './fakeLog.js';
import { FakeNode } from './fakeNode.js';

/** What the fake does wrong, as long as it is set. */
export interface FakeFaults {
  /** Takes connections and requests, and answers none. */
  silent: boolean;
  /** Subscriptions hear nothing any more, without an error. */
  mute: boolean;
  /** Every request is refused with this, before anything is done. */
  refuseWith: { readonly code: number; readonly details: string } | null;
  /** What becomes of the answer to an append that was done. `late`: when `answerLate` is called. */
  answers: 'given' | 'lost' | 'late' | 'twice' | 'timed out';
  /** Whether the end of a stream is told with what is read of it, as since version 21.10. */
  tellsHead: boolean;
  /** Bytes of data in one append; the real server's default. */
  maxAppendSize: number;
}

/** What a server that is not insecure asks for. */
export interface FakeSecurity {
  readonly certificate: Buffer;
  readonly key: Buffer;
  readonly user: string;
  readonly password: string;
}

/** What was asked of the fake. */
export interface FakeCalls {
  read: number;
  append: number;
  batchAppend: number;
  /** How often a node was asked whether it is the leader, by an append that cannot be. */
  leaderProbes: number;
  /** Calls that carried a password. */
  withPassword: number;
  readonly subscriptions: { readonly after: bigint; readonly filter: object | null }[];
  readonly written: (readonly { readonly data: Uint8Array; readonly metadata: Uint8Array }[])[];
}

/**
 * A fake EventStoreDB, one node or several, for tests: it speaks the real protocol over loopback ports, and behaves as the real server was
 * seen to do (expected revisions, repetition by event id, filters, checkpoints, leaders), with faults on demand. It keeps its log in memory: it
 * proves how the adapter uses the wire, and nothing about durability.
 */
export class FakeCluster {
  readonly log = new FakeLog();
  readonly faults: FakeFaults = {
    silent: false,
    mute: false,
    refuseWith: null,
    answers: 'given',
    tellsHead: true,
    maxAppendSize: 1_048_576,
  };
  readonly calls: FakeCalls = {
    read: 0,
    append: 0,
    batchAppend: 0,
    leaderProbes: 0,
    withPassword: 0,
    subscriptions: [],
    written: [],
  };
  /** Answers that are still to be given. */
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

  /** What `EVENT_STORE_URL` would be, of a server without TLS and credentials. */
  get url(): string {
    return `esdb://${this.hosts}?tls=false${this.nodes.length > 1 ? '&nodePreference=leader&discoveryInterval=20' : ''}`;
  }

  stop(): void {
    for (const node of this.nodes) node.stop();
  }

  /** Starts again, on the same ports, with what was committed. */
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

  /** Gives the answers that were held back. */
  answerLate(): void {
    for (const answer of this.late.splice(0)) answer();
  }

  /** What each node tells of all. */
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
