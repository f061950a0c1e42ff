import { command, flag, list, website, type Command } from '../command.js';
import type { WriteOptions } from '../context.js';
import { at, change, listing, readList } from './shared.js';

/** Commands on the build of a new website. */
export const provisioningCommands: readonly Command[] = [
  command({
    name: 'provisioning show',
    summary: 'Show how the build of a website stands',
    examples: [['The six steps', 'provisioning show corner-bakery']],
    operations: ['getProvisioningJob'],
    arguments: { website },
    run: async (context, args) => {
      const { output } = context;
      const { jobLines, jobSentence } = await import('../views/provisioning.js');
      const { drawingFor } = await import('../views/drawing.js');
      const { doorstep, website: found } = await at(context, args.website);
      const job = await doorstep.websites.provisioning.get(found.id);
      await output.view(
        job,
        () => [jobSentence(found, job), ...jobLines(job, drawingFor(output))],
        () => job.steps.map((step) => [step.id, step.status, step.startedAt, step.finishedAt, step.attempts, step.error]),
      );
    },
  }),
  command({
    name: 'provisioning watch',
    summary: 'Watch a website being built, until it is done',
    description: 'Ends with 1 when the build fails. Ctrl-C stops watching, not the build.',
    examples: [['Watch it', 'provisioning watch corner-bakery']],
    operations: ['followProvisioningJob'],
    arguments: { website },
    run: async (context, args) => {
      const { watchProvisioning } = await import('../watchProvisioning.js');
      const { website: found } = await at(context, args.website);
      await watchProvisioning(context, found, 'job');
    },
  }),
  command({
    name: 'provisioning retry',
    summary: 'Go on with a failed build, from the step that failed',
    examples: [
      ['Go on, and watch it', 'provisioning retry corner-bakery --watch'],
      ['Invite somebody else than before, whose name was mistyped', 'provisioning retry corner-bakery --collaborator anna-b'],
    ],
    operations: ['retryProvisioning', 'followProvisioningJob'],
    write: true,
    arguments: { website },
    options: {
      collaborator: list('A username at the source host to invite, instead of those before', { placeholder: 'username' }),
      watch: flag('Watch it being built', { short: 'w' }),
    },
    run: async (context, args, { collaborator, watch }) => {
      const { doorstep, website: found } = await at(context, args.website);
      const query = collaborator.length > 0 ? { collaborators: collaborator.join(',') } : {};
      const retry = (options: WriteOptions) => doorstep.websites.provisioning.retry(found.id, query, options);
      const said = `The build of ${found.slug} goes on.`;
      if (!watch) {
        await change(context, retry, ({ id }) => ({ said, value: id }));
        return;
      }
      const retried = await context.write(retry);
      if (retried === undefined) return;
      context.output.done(said);
      const { watchProvisioning } = await import('../watchProvisioning.js');
      await watchProvisioning(context, found, 'job');
    },
  }),
  command({
    name: 'provisioning clean-up',
    summary: 'Remove what a failed build has made',
    examples: [['Remove it', 'provisioning clean-up corner-bakery']],
    operations: ['cleanUpProvisioning'],
    write: true,
    destructive: true,
    arguments: { website },
    run: async (context, args) => {
      const { doorstep, website: found } = await at(context, args.website);
      await context.confirm(`Remove the repository and the hosting project that the failed build of ${found.name} made?`);
      await change(
        context,
        (options) => doorstep.websites.provisioning.cleanUp(found.id, options),
        ({ id }) => ({ said: `What the build of ${found.slug} has made is being removed.`, value: id }),
      );
    },
  }),
  command({
    name: 'provisioning receipts',
    summary: 'List what a build made at the providers, and whether it is there now',
    examples: [['All of it', 'provisioning receipts corner-bakery']],
    operations: ['listProvisioningReceipts'],
    arguments: { website },
    options: listing,
    run: async (context, args, options) => {
      const { duration, shortTime } = await import('../views/words.js');
      const { doorstep, website: found } = await at(context, args.website);
      const receipts = await readList(context, (page) => doorstep.websites.provisioning.receipts(found.id, page), options);
      const clock = { now: Date.now() };
      await context.output.list(
        receipts,
        [
          { heading: 'what', value: ({ kind }) => kind },
          { heading: 'name', value: ({ name, id }) => name ?? id },
          {
            heading: 'now',
            value: ({ now }) => now,
            style: (shown, style, { now }) => (now === 'exists' ? style.green(shown) : style.yellow(shown)),
          },
          { heading: 'made', value: ({ startedAt }) => startedAt, shown: ({ startedAt }) => shortTime(startedAt, clock) },
          {
            heading: 'took',
            value: ({ durationMs }) => durationMs,
            shown: ({ durationMs }) => (durationMs === undefined ? '' : duration(durationMs)),
            right: true,
          },
          { heading: 'request', value: ({ requestId }) => requestId, style: (shown, style) => style.dim(shown), spare: true },
        ],
        'The build has made nothing at the providers.',
      );
    },
  }),
];
