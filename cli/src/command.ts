/**
 * What a command of the CLI is: a value. Parsing, help, completion, man pages and docs/programs.md
 * derive from the list of them (`commands/index.ts`), so none can drift.
 *
 * That list is read at every start. Files of commands therefore import no package: what a command
 * needs beyond `Context` is imported in `run`.
 */
import type { Context } from './context.js';

/** What completion offers for a value: slugs of websites, or names of files. */
export type Completes = 'website' | 'file';

interface Value<T> {
  readonly summary: string;
  /** How the value is called in help: `<placeholder>`. */
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
  /** @throws UsageError when the text cannot be read. */
  readonly parse: (text: string) => T;
}

export interface Option<T = unknown> extends Value<unknown> {
  /** A flag has no value, a list may be given several times. */
  readonly kind: 'flag' | 'value' | 'list';
  readonly short?: string;
  readonly required?: boolean;
  /** Carries the type only. */
  readonly type?: T;
}

export interface Argument<T = unknown> extends Value<unknown> {
  readonly kind: 'required' | 'optional' | 'rest';
  /** Carries the type only. */
  readonly type?: T;
}

type Types<V extends Record<string, Option | Argument>> = {
  readonly [K in keyof V]: V[K] extends { readonly type?: infer T } ? T : never;
};

export type Arguments = Readonly<Record<string, Argument>>;
export type Options = Readonly<Record<string, Option>>;

export interface Command<A extends Arguments = Arguments, O extends Options = Options> {
  /** Its words: `websites create`. A group may be a command itself: `delivery`, `delivery set`. */
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  readonly description?: string;
  /** What each does, and its line without `doorstep`. Every command has at least one. */
  readonly examples: readonly (readonly [does: string, line: string])[];
  /** The operations of the API that it calls, by their ids. */
  readonly operations: readonly string[];
  /** In the order of the command line. */
  readonly arguments?: A;
  /** By their names in camel case: `readyBy` is `--ready-by`. */
  readonly options?: O;
  /** Changes something at the service: takes `--dry-run` and `--idempotency-key`. */
  readonly write?: true;
  /**
   * Cannot be taken back by the same command, or takes more than it names: asks first, and takes `--yes`.
   * `typed`: it asks for a word to be typed, and `--yes` is refused with the option that says the word.
   */
  readonly destructive?: true | 'typed';
  /** Prints something else than resources: takes neither `--json` nor `--jq`. */
  readonly plain?: true;
  /** Neither in help nor in completion. */
  readonly hidden?: true;
  run(context: Context, args: Types<A>, options: Types<O>): Promise<void> | void;
}

/** Of a command that has no arguments or no options. */
type None = Readonly<Record<string, never>>;

/** Gives a command its types: those of `run`'s parameters follow from `arguments` and `options`. */
export const command = <const A extends Arguments = None, const O extends Options = None>(value: Command<A, O>): Command => value;

/** A mistake in how the program was called. Its message is printed with a pointer to the help. */
export class UsageError extends Error {}

/** What the caller has to know, and nothing else: printed as it is, exit code 1. */
export class Refusal extends Error {}

interface More {
  readonly placeholder?: string;
  readonly completes?: Completes;
}

interface MoreOption extends More {
  readonly short?: string;
}

interface MoreText {
  /** "" means something: none. */
  readonly mayBeEmpty?: true;
}

const asItIs = (text: string): string => text;

/** An empty word is a variable of a script that is not set: it would find everything, or name nothing. */
const filled = (text: string): string => {
  if (text.trim() === '') throw new UsageError('must not be empty');
  return text;
};

const choiceOf =
  <const C extends string>(choices: readonly C[]) =>
  (text: string): C => {
    // On a command line words are joined by hyphens: in-progress.
    const choice = choices.find((one) => one === text || one.replaceAll('_', '-') === text);
    if (choice === undefined) throw new UsageError(`"${text}" is none of ${choices.join(', ')}`);
    return choice;
  };

/** @throws UsageError */
export const wholeNumber = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new UsageError(`"${text}" is not a whole number`);
  return Number(text);
};

/** `--watch`. */
export const flag = (summary: string, more: MoreOption = {}): Option<boolean> => ({
  kind: 'flag',
  summary,
  parse: asItIs,
  ...more,
});

/** `--slug <text>`. */
export const text = (summary: string, { mayBeEmpty, ...more }: MoreOption & MoreText = {}): Option<string | undefined> => ({
  kind: 'value',
  summary,
  parse: mayBeEmpty === true ? asItIs : filled,
  ...more,
});

/** `--limit <number>`. */
export const number = (summary: string, more: MoreOption = {}): Option<number | undefined> => ({
  kind: 'value',
  placeholder: 'number',
  summary,
  parse: wholeNumber,
  ...more,
});

/** `--role <viewer|editor>`. */
export const choice = <const C extends string>(
  choices: readonly C[],
  summary: string,
  more: MoreOption = {},
): Option<C | undefined> => ({ kind: 'value', choices, summary, parse: choiceOf(choices), ...more });

/** `--feature cms --feature seo`. */
export const list = (summary: string, { mayBeEmpty, ...more }: MoreOption & MoreText = {}): Option<readonly string[]> => ({
  kind: 'list',
  summary,
  parse: mayBeEmpty === true ? asItIs : filled,
  ...more,
});

/** Makes an option required. */
export const required = <T>(option: Option<T>): Option<Exclude<T, undefined>> =>
  ({ ...option, required: true }) as Option<Exclude<T, undefined>>;

export const argument = (summary: string, { mayBeEmpty, ...more }: More & MoreText = {}): Argument<string> => ({
  kind: 'required',
  summary,
  parse: mayBeEmpty === true ? asItIs : filled,
  ...more,
});

export const optionalArgument = (summary: string, more: More = {}): Argument<string | undefined> => ({
  kind: 'optional',
  summary,
  parse: filled,
  ...more,
});

/** One or more words to the end of the line. */
export const restArgument = (summary: string, more: More = {}): Argument<readonly string[]> => ({
  kind: 'rest',
  summary,
  parse: asItIs,
  ...more,
});

export const choiceArgument = <const C extends string>(choices: readonly C[], summary: string): Argument<C> => ({
  kind: 'required',
  choices,
  summary,
  parse: choiceOf(choices),
});

/** The argument that most commands begin with. */
export const website: Argument<string> = argument('Slug or id of the website', { completes: 'website' });

/** `readyBy` → `ready-by`. */
export const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Without the keys whose value is undefined, as bodies and queries want it. */
export const defined = <T extends object>(values: T): Defined<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
