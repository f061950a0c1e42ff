import { openCore } from '../../src/compose/stores.js';
import { createLogger } from '../../src/platform/logger.js';
import { loadSettings } from '../../src/platform/settings/settings.js';
import { projections } from '../../src/projections/catalogue.js';
import { createProjector } from '../../src/projections/runner/projector.js';
import { createCronWorker } from '../../src/workers/cron/cronWorker.js';
import { createSeoRunWorker, scheduledSeoScans } from '../../src/workers/seoRun/seoRunWorker.js';
import { partsOf, processOn } from './process.js';

/**
 * A process of its own that keeps the calendar of scans until it is killed:
 * `<data folder> <schedule>`. It makes no scan.
 */
const [, , dataDir = '', schedule = ''] = process.argv;
const engine = processOn(await openCore(loadSettings({ DATA_DIR: dataDir }), createLogger({ level: 'silent' })));
const projector = createProjector({ ...engine, projections, decode: (stored) => engine.codec.decode(stored) });
await projector.start();
await createSeoRunWorker({ ...partsOf(engine), siteAddress: ({ url }) => url }).start();
await createCronWorker(engine, [scheduledSeoScans(engine, schedule)]).start();
