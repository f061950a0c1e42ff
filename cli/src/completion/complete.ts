import { kebab, type Argument, type Command, type Option } from '../command.js';
import { childrenOf } from '../help.js';
import { calledBy } from '../program.js';

/** A line for the shell: what may stand there, and what it is. */
export type Candidate = readonly [value: string, description?: string];

/** Lists slugs that begin with a word. */
export type ListSlugs = (beginning: string) => Promise<readonly Candidate[]>;

/** The shell completes names of files itself. */
const files: Candidate = [':files'];

const commonFlags = ({ write, destructive, plain }: Partial<Command>): Candidate[] => [
  ...(plain === true
    ? []
    : ([
        ['--json', 'Print the resource as JSON'],
        ['--jq', 'Filter the JSON'],
      ] as const)),
  ...(write === true
    ? ([
        ['--dry-run', 'Print what would happen'],
        ['--idempotency-key', 'Repeat without a second effect'],
      ] as const)
    : []),
  ...(destructive === true ? ([['--yes', 'Do not ask']] as const) : []),
  ['--profile', 'Use another profile'],
  ['--url', 'Call the service at this address'],
  ['--help', 'Show help'],
];

/** Options of all commands that are followed by a value. `--json` may be, and mostly is not. */
const withValue = ['--profile', '--url', '--jq', '--idempotency-key'];

/**
 * What may stand at the end of a command line.
 * @param words - without the program's name; the last one is completed, and may be empty
 */
export const complete = async (
  words: readonly string[],
  commands: readonly Command[],
  listSlugs: ListSlugs,
): Promise<readonly Candidate[]> => {
  if (words[0] === 'help' && words.length > 1) return completeHelp(words.slice(1), commands);
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const called = calledBy(before, commands);
  const command = commands.find(({ name }) => name === called);
  const options = Object.entries(command?.options ?? {});

  const valuesOf = async (value: Option | Argument | undefined, beginning: string): Promise<readonly Candidate[]> => {
    if (value?.completes === 'file') return [files];
    if (value?.completes === 'website') return await listSlugs(beginning);
    return (value?.choices ?? []).map((choice) => [choice]);
  };
  const optionCalled = (word: string): Option | undefined =>
    options.find(([name, { short }]) => word === `--${kebab(name)}` || word === `-${short ?? ''}`)?.[1];
  const takesValue = (word: string): boolean => {
    const option = optionCalled(word);
    return option === undefined ? withValue.includes(word) : option.kind !== 'flag';
  };

  const [written = '', ...rest] = current.split('=');
  if (current.startsWith('--') && rest.length > 0) {
    const candidates = await valuesOf(optionCalled(written), rest.join('='));
    return beginningWith(
      current,
      candidates.map(([value, does]) => [value === ':files' ? value : `${written}=${value}`, does ?? '']),
    );
  }
  const last = before.at(-1) ?? '';
  if (takesValue(last)) return beginningWith(current, await valuesOf(optionCalled(last), current));
  if (current.startsWith('-')) {
    const own = options.map(([name, { summary }]): Candidate => [`--${kebab(name)}`, summary]);
    return beginningWith(current, [...own, ...commonFlags(command ?? { plain: true })]);
  }

  const operands = before.filter((word, at) => !word.startsWith('-') && !takesValue(before[at - 1] ?? ''));
  const given = operands.length - (called === '' ? 0 : called.split(' ').length);
  const below =
    given > 0 || before.includes('--')
      ? []
      : childrenOf(called, commands).map(([name, summary]): Candidate => [name.split(' ').at(-1) ?? name, summary]);
  const args = Object.values(command?.arguments ?? {});
  const next = args[given] ?? args.findLast(({ kind }) => kind === 'rest');
  return beginningWith(current, [...below, ...(await valuesOf(next, current))]);
};

/** `doorstep help delivery s`: names of commands alone. */
const completeHelp = (words: readonly string[], commands: readonly Command[]): readonly Candidate[] => {
  const group = words.slice(0, -1).join(' ');
  const below = childrenOf(group, commands).map(([name, summary]): Candidate => [name.split(' ').at(-1) ?? name, summary]);
  return beginningWith(words.at(-1) ?? '', below);
};

const beginningWith = (current: string, candidates: readonly Candidate[]): readonly Candidate[] =>
  candidates.filter(([value]) => value === ':files' || value.startsWith(current));
