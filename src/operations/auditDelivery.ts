import { parseArgs } from 'node:util';
import { refusals } from '../commands/refusal.js';
import { isTime, utcTime } from '../platform/times.js';
import { createActorNames } from '../events/actorNames.js';
import { deliveryHistory } from '../events/delivery/delivery.history.js';
import { reportAsJson, reportOf, type NamedEntry } from './deliveryReport.js';
import { runScript, UsageError } from './script.js';
import { usageOf } from './scriptHelp.js';

const usage = usageOf('auditDelivery');

const readArguments = (): { websiteId: string; until: string | undefined; json: boolean } => {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { at: { type: 'string' }, json: { type: 'boolean', default: false } },
    });
    const [websiteId, ...others] = positionals;
    const { at, json } = values;
    if (websiteId === undefined || others.length > 0) throw new UsageError(usage);
    if (at !== undefined && !isTime(at)) throw new UsageError(`--at must be a time such as 2030-01-31T12:00:00.000Z\n${usage}`);
    return { websiteId, until: at === undefined ? undefined : utcTime(at), json };
  } catch (error) {
    // `parseArgs` throws a TypeError for an unknown option.
    throw error instanceof TypeError ? new UsageError(`${error.message}\n${usage}`) : error;
  }
};

/**
 * `npm run audit:delivery -- <website id>`: a delivery block's history, replayed from the event log
 * and nothing else.
 */
await runScript(async ({ engine }) => {
  const { websiteId, until, json } = readArguments();
  const history: NamedEntry[] = [];
  const { toActor } = createActorNames(engine, { readerRole: 'admin' });
  for await (const { actor, ...entry } of deliveryHistory(engine, websiteId, until)) {
    history.push({ ...entry, actor: await toActor(actor) });
  }
  if (history.length === 0) {
    throw new UsageError(
      until === undefined
        ? refusals.deliveryNotSetUp(websiteId).message
        : `Delivery for website ${websiteId} was not set up yet at ${until}`,
    );
  }
  process.stdout.write(json ? reportAsJson(websiteId, history) : reportOf(websiteId, history));
});
