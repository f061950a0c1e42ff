import type { Actor } from '../events/envelope.js';
import type { ParkedWork } from '../projections/parkedWork/parkedWork.projection.js';
import { listParked } from '../projections/parkedWork/parkedWork.queries.js';
import { retryParked } from '../workers/parkedWork.js';
import { runScript, UsageError } from './script.js';

/** Lists what is parked of one kind, or has the workers try it again. */
export const runParkedScript = ({
  subject,
  noun,
  willBe,
  readRequested,
  describe,
}: {
  /** As in `npm run mails:parked`. */
  readonly subject: string;
  readonly noun: string;
  /** What is said of one that is tried again. */
  readonly willBe: string;
  /** The id to try again, `all`, or undefined. */
  readonly readRequested: () => string | undefined;
  /** Undefined of other kinds. */
  readonly describe: (work: ParkedWork) => string | undefined;
}): Promise<void> =>
  runScript(async ({ engine, stores }) => {
    const actor: Actor = { subject, role: 'system', via: 'operator' };
    const requested = readRequested();
    const isChosen = ({ id }: ParkedWork): boolean => requested === undefined || requested === 'all' || requested === id;
    const chosen = (await listParked(stores)).filter((work) => describe(work) !== undefined && isChosen(work));
    if (chosen.length === 0 && requested !== undefined && requested !== 'all') {
      throw new UsageError(`No parked ${noun} ${requested}`);
    }
    for (const work of chosen) {
      if (requested !== undefined) {
        const context = { commandId: engine.ids.commandId(), actor, requestId: subject };
        await retryParked(engine, work, context);
      }
      const { id, at, reason } = work;
      process.stdout.write(`${id}  ${at}  ${describe(work) ?? ''}: ${requested === undefined ? reason : willBe}\n`);
    }
    if (chosen.length === 0) process.stdout.write(`No ${noun} is parked.\n`);
  });
