import type { ProvisioningJob } from '@doorstep/sdk';
import { clean } from '../output.js';
import { cut, pad } from '../table.js';
import type { Drawing } from './drawing.js';
import { duration } from './words.js';

type Step = ProvisioningJob['steps'][number];

interface StepWords {
  readonly label: string;
  readonly doing: string;
  /** What came of it. */
  readonly result: (output: Readonly<Record<string, unknown>>) => string;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? clean(value) : '');
const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

const words: Record<Step['id'], StepWords> = {
  github_create_repo: {
    label: 'Repository from the template',
    doing: 'copying …',
    // At a source host the id names the owner too.
    result: ({ id, name }) => (textOf(id).includes('/') ? textOf(id) : textOf(name)),
  },
  github_invite_collaborator: {
    label: 'Collaborators',
    doing: 'inviting …',
    result: ({ invited }) => (lengthOf(invited) === 0 ? 'none to invite' : `${lengthOf(invited)} invited`),
  },
  vercel_create_project: { label: 'Hosting project', doing: 'making …', result: ({ name }) => textOf(name) },
  vercel_set_env_vars: { label: 'Variables', doing: 'setting …', result: ({ variables }) => `${lengthOf(variables)} set` },
  vercel_initial_deploy: {
    label: 'First deployment',
    doing: 'building …',
    result: ({ commit }) => (textOf(commit) === '' ? 'built' : `commit ${textOf(commit).slice(0, 7)}`),
  },
  finalize: { label: 'Last check', doing: 'checking …', result: () => 'the site answers' },
};

const labels = Math.max(...Object.values(words).map(({ label }) => label.length));

const stateOf = (step: Step, { now }: Drawing): string => {
  const { doing, result } = words[step.id];
  if (step.status === 'pending') return '';
  // Clients get no output.
  if (step.status === 'succeeded') return step.output === undefined ? 'done' : result(step.output);
  if (step.status === 'failed') return 'failed';
  if (step.nextAttemptAt === undefined) return step.attempts > 1 ? `${doing} (attempt ${step.attempts})` : doing;
  const seconds = Math.max(0, Math.ceil((Date.parse(step.nextAttemptAt) - now) / 1000));
  return `attempt ${step.attempts + 1} in ${seconds} s`;
};

const timeOf = (step: Step, now: number): string => {
  if (step.startedAt === undefined) return '';
  return duration(Math.max(0, (step.finishedAt === undefined ? now : Date.parse(step.finishedAt)) - Date.parse(step.startedAt)));
};

const markOf = (status: Step['status'], drawing: Drawing): string => {
  const mark = {
    succeeded: drawing.style.green('✓'),
    running: drawing.style.yellow('◐'),
    pending: drawing.style.dim('○'),
    failed: drawing.style.red('✗'),
  };
  return mark[status];
};

/** `✓ Repository from the template    northlight/corner-bakery          0.4 s` */
const stepLine = (step: Step, drawing: Drawing): string => {
  const label = words[step.id].label;
  const state = stateOf(step, drawing);
  const time = timeOf(step, drawing.now);
  const head = drawing.marks ? `${markOf(step.status, drawing)} ` : '';
  const room = Math.min(30, drawing.width - (drawing.marks ? 2 : 0) - labels - 4 - 4 - '59.9 s'.length);
  // Too narrow for what came of it: the name and the duration are left.
  if (room < 8) return `${head}${pad(label, labels)}  ${drawing.style.dim(time)}`.trimEnd();
  return `${head}${pad(label, labels + 4)}${pad(cut(state, room), room + 4)}${drawing.style.dim(time)}`.trimEnd();
};

/** A step; what went wrong in the last attempt stands beneath it. */
export const stepLines = (step: Step, drawing: Drawing): string[] => {
  const line = stepLine(step, drawing);
  if (step.error === undefined || step.status === 'succeeded') return [line];
  return [line, drawing.style.red(cut(`  ${clean(step.error)}`, drawing.width))];
};

/** All steps of a run, as it stands. */
export const jobLines = (job: ProvisioningJob, drawing: Drawing): string[] =>
  job.steps.flatMap((step) => stepLines(step, drawing));

const stands: Record<ProvisioningJob['status'], string> = {
  queued: 'waits to be built',
  running: 'is being built',
  succeeded: 'is built',
  failed: 'could not be built',
};

/** `Corner Bakery is being built.` */
export const jobSentence = ({ name }: { readonly name: string }, { status, reason }: ProvisioningJob): string =>
  clean(`${name} ${stands[status]}${reason === undefined ? '.' : `: ${reason}`}`);
