import shared from '@eventstore/db-client/generated/shared_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { CallArguments, StreamsClient } from './client.js';

/** The question is an append that no stream can take: nothing is ever written to this one. */
export const QUESTION_STREAM = 'doorstep-leader';
const NO_REVISION = 2n ** 62n;
const QUESTION_ID = '8f6f0f0e-6c1b-4a7e-9d51-3f0b5a1c2d7e';

/**
 * Whether the node behind `client` is the leader, by asking it for an append that it must refuse: resolves when it did so as a leader does.
 *
 * A node that was elected answers reads from then on, but takes appends only when its index has caught up with its log. In between, which is
 * also so after the restart of a single node, its reads lack what was acknowledged last, and nothing in them tells.
 *
 * @param onCancel called with what gives the question up
 * @throws the fault of the call: no connection, not the leader, not ready, no right
 */
export const askWhetherLeader = (
  client: StreamsClient,
  args: CallArguments,
  onCancel: (cancel: () => void) => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = client.append(...args, (fault) => {
      if (fault === null) resolve();
      else reject(fault);
    });
    // The same fault as above; nobody else listens.
    call.on('error', reject);
    onCancel(() => {
      call.cancel();
    });
    const stream = new shared.StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(QUESTION_STREAM)));
    const options = new messages.AppendReq.Options().setStreamIdentifier(stream).setRevision(String(NO_REVISION));
    const message = new messages.AppendReq.ProposedMessage().setId(new shared.UUID().setString(QUESTION_ID));
    message.getMetadataMap().set('type', 'LeaderAsked').set('content-type', 'application/json');
    call.write(new messages.AppendReq().setOptions(options));
    call.write(new messages.AppendReq().setProposedMessage(message.setData(Buffer.from('{}'))));
    call.end();
  });
