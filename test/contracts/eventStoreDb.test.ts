import { fakeHarness, serverHarness } from '../support/eventStoreDbHarness.js';
import { forEachEventStoreServer } from '../support/realServers.js';
import { eventStoreContract } from './eventStore.contract.js';

eventStoreContract('EventStoreDB (a fake of it)', fakeHarness);

forEachEventStoreServer(({ name, url }) => {
  eventStoreContract(name, serverHarness(url));
});
