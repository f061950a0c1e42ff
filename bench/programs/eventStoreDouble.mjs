/**
 * The fake EventStoreDB of the tests, in a process of its own: it speaks the protocol, and keeps its
 * log in memory. It shows what the service needs, not what a server does.
 */
import '../../test/support/eventStoreTypescript.mjs';

const { FakeCluster } = await import('../../test/support/eventStoreDbFake/fakeEventStoreDb.js');
const { url } = await FakeCluster.start(1);
process.send?.({ url });
process.on('disconnect', () => process.exit());
