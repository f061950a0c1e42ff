import { embeddedEventStoreHarness } from '../support/eventStoreEmbedded.js';
import { eventStoreContract } from './eventStore.contract.js';

eventStoreContract('the embedded event store', embeddedEventStoreHarness);
