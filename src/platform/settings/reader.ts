import type { Environment } from './environment.js';
import { Problem } from './values.js';

/** Reads variables by name and collects what is wrong with them, to report it all at once. */
export interface SettingsReader {
  /** Trimmed; an empty variable counts as unset. */
  readonly given: (name: string) => string | undefined;
  /** Parsed; `fallback` where the variable is unset, or wrong, which is then a problem. */
  readonly read: <Value, Fallback>(
    name: string,
    parse: (text: string) => Value | Problem,
    fallback: Fallback,
  ) => Value | Fallback;
  readonly refuse: (name: string, reason: string) => void;
  /** For a setting without which these others have no effect. */
  readonly needFor: (name: string, ...others: readonly string[]) => void;
  /** For settings that select an integration only together. */
  readonly needTogether: (...names: readonly string[]) => void;
  readonly problems: readonly string[];
}

export const createReader = (environment: Environment): SettingsReader => {
  const problems: string[] = [];
  const refuse = (name: string, reason: string): void => {
    problems.push(`${name}: ${reason}`);
  };
  const given = (name: string): string | undefined => {
    const text = environment[name]?.trim();
    return text === '' ? undefined : text;
  };
  const needFor = (name: string, ...others: readonly string[]): void => {
    const set = others.find((other) => given(other) !== undefined);
    if (set !== undefined && given(name) === undefined) refuse(name, `is needed because ${set} is set`);
  };
  return {
    given,
    read: (name, parse, fallback) => {
      const text = given(name);
      if (text === undefined) return fallback;
      const value = parse(text);
      if (!(value instanceof Problem)) return value;
      refuse(name, value.message);
      return fallback;
    },
    refuse,
    needFor,
    needTogether: (...names) => {
      for (const name of names) needFor(name, ...names);
    },
    problems,
  };
};

type Parts = Readonly<Record<string, unknown>>;
type Whole<Some extends Parts> = { readonly [Name in keyof Some]: Exclude<Some[Name], undefined> };

const isWhole = <Some extends Parts>(parts: Some): parts is Some & Whole<Some> => !Object.values(parts).includes(undefined);

/** The parts of an integration, unless one is missing: it is configured as a whole or not. */
export const whole = <Some extends Parts>(parts: Some): Whole<Some> | undefined => (isWhole(parts) ? parts : undefined);
