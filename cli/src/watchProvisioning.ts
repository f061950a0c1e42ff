/**
 * `--watch`: the six steps of a build, redrawn as they go; without a terminal, or without its size, a
 * line for each that has ended.
 */
import type { ProvisioningJob, Website } from '@doorstep/sdk';
import { Refusal } from './command.js';
import type { Context } from './context.js';
import { clean, columnsOf } from './output.js';
import { drawingFor, type Drawing } from './views/drawing.js';
import { jobLines, stepLines } from './views/provisioning.js';

/** How often the durations of running steps move on. */
const tickMs = 200;

interface Display {
  show(job: ProvisioningJob): void;
  end(): void;
}

/** Redraws in place. */
const liveDisplay = async (stream: NodeJS.WriteStream, drawing: () => Drawing): Promise<Display> => {
  const { createLogUpdate } = await import('log-update');
  const draw = createLogUpdate(stream);
  let latest: ProvisioningJob | undefined;
  const redraw = (): void => {
    if (latest !== undefined) draw(jobLines(latest, drawing()).join('\n'));
  };
  const timer = setInterval(redraw, tickMs);
  return {
    show: (job) => {
      latest = job;
      redraw();
    },
    end: () => {
      clearInterval(timer);
      redraw();
      draw.done();
    },
  };
};

/** Writes each step once, when it has ended. */
const lineDisplay = (stream: NodeJS.WriteStream, drawing: () => Drawing): Display => {
  const written = new Set<string>();
  return {
    show: ({ steps }) => {
      for (const step of steps) {
        if ((step.status !== 'succeeded' && step.status !== 'failed') || written.has(step.id)) continue;
        written.add(step.id);
        stream.write(`${stepLines(step, drawing()).join('\n')}\n`);
      }
    },
    end: () => undefined,
  };
};

/**
 * Shows the build until it ends.
 * @param resource - what `--json` prints, as it is then
 * @throws Refusal with the reason when it failed
 */
export const watchProvisioning = async (
  context: Context,
  { id, name, slug }: Website,
  resource: 'website' | 'job',
): Promise<void> => {
  const { output, interruption } = context;
  const doorstep = await context.doorstep();
  // Standard output is for the resource when that is asked for.
  const stream = output.isJson ? process.stderr : process.stdout;
  const drawing = (): Drawing => ({
    ...drawingFor(output),
    ...(output.isJson && { style: output.noteStyle }),
    marks: stream.isTTY,
    width: stream.isTTY ? columnsOf(stream) : Infinity,
  });
  // What is redrawn has to fit: a terminal of an unknown size gets lines.
  const isSized = stream.isTTY && stream.columns > 0 && stream.rows > 0;
  const display = isSized ? await liveDisplay(stream, drawing) : lineDisplay(stream, drawing);
  interruption.onInterrupt(() => {
    display.end();
    output.note(`The build of ${slug} goes on. To watch it again: doorstep provisioning watch ${slug}`);
  });

  let job: ProvisioningJob | undefined;
  try {
    for await (job of doorstep.websites.provisioning.watch(id, { signal: interruption.signal })) display.show(job);
    // A build that had ended before has no events any more.
    job ??= await doorstep.websites.provisioning.get(id);
    display.show(job);
  } finally {
    display.end();
  }
  const website = await doorstep.websites.get(id);
  if (output.isJson) await output.json(resource === 'website' ? website : job);
  if (job.status === 'failed')
    throw new Refusal(
      `${clean(job.reason ?? `The build of ${slug} failed.`)} To go on from the failed step: doorstep provisioning retry ${slug}`,
    );
  if (website.archivedAt !== undefined) output.note(`${name} is archived.`);
  else output.done(`${name} is active${website.url === undefined ? '' : `: ${website.url}`}`);
};
