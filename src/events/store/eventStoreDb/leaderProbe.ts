import shared from '@eventstore/db-client/generated/shared_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { CallArguments, StreamsClient } from './client.js';

/**
 * The stream of the probe, an append that every leader must refuse: nothing is ever written to it.
 */
export const LEADER_PROBE_STREAM = 'doorstep-leader';
const NO_REVISION = 2n ** 62n;
const PROBE_EVENT_ID = '8f6f0f0e-6c1b-4a7e-9d51-3f0b5a1c2d7e';

/**
 * Checks that the node behind `client` is the leader, by an append that a leader refuses because of
 * its expected revision.
 *
 * An elected node answers reads at once, but accepts appends only after its index has caught up
 * with its log. Until then, and also after the restart of a single node, its reads lack the last
 * acknowledged events, and nothing in the answers shows it.
 *
 * @param onCancel receives the function that cancels the probe
 * @throws the fault of the call: no connection, not the leader, not ready, access denied
 */
export const probeLeader = (client: StreamsClient, args: CallArguments, onCancel: (cancel: () => void) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = client.append(...args, (fault) => {
      if (fault === null) resolve();
      else reject(fault);
    });
    // The callback reports the same fault; without this listener it would also be thrown.
    call.on('error', reject);
    onCancel(() => {
      call.cancel();
    });
    const stream = new shared.StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(LEADER_PROBE_STREAM)));
    const options = new messages.AppendReq.Options().setStreamIdentifier(stream).setRevision(String(NO_REVISION));
    const message = new messages.AppendReq.ProposedMessage().setId(new shared.UUID().setString(PROBE_EVENT_ID));
    message.getMetadataMap().set('type', 'LeaderAsked').set('content-type', 'application/json');
    call.write(new messages.AppendReq().setOptions(options));
    call.write(new messages.AppendReq().setProposedMessage(message.setData(Buffer.from('{}'))));
    call.end();
  });
