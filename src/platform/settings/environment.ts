import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { systemErrorCode } from '../systemError.js';

/** Lists every wrong setting, one per line, by name. It never contains the value of a secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['Doorstep cannot start with these settings:', ...problems].join('\n  '));
    this.problems = problems;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The process's environment, which wins over a `.env` file in the current folder. */
export const readEnvironment = (file = '.env', environment: Environment = process.env): Environment => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return environment;
    throw new SettingsError([`${file}: cannot be read; check its permissions`]);
  }
  return { ...parseEnv(text), ...environment };
};
