import { changeWebsite } from '../../src/commands/website/website.handlers.js';
import { openCore } from '../../src/compose/stores.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings } from '../../src/platform/settings/settings.js';

/**
 * A process of its own that assigns an owner and is killed (`kill -9`) right after its first append:
 * `<data folder> <website id> <client id>`.
 */
const [, , dataDir = '', websiteId = '', clientId = ''] = process.argv;
const { engine } = await openCore(loadSettings({ DATA_DIR: dataDir }), createLogger({ level: 'silent' }), {
  instrument: (eventStore) => ({
    ...eventStore,
    append: async (...append) => {
      await eventStore.append(...append);
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => undefined);
    },
  }),
});
await changeWebsite(
  engine,
  { websiteId, clientId },
  {
    commandId: engine.ids.commandId(),
    actor: { subject: 'ops@example.com', role: 'admin', via: 'portal' },
    requestId: 'request',
  },
);
