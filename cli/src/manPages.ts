import type { Command } from './command.js';
import {
  argumentAsWritten,
  childrenOf,
  commonOptions,
  environment,
  globalOptions,
  groupSummaries,
  ownOptions,
  rootExamples,
  usage,
  type Entry,
} from './help.js';

/** A page for `man`: its file's name, and its text in troff's man macros. */
export type ManPage = readonly [file: string, text: string];

/** A page for the program, and one for each first word, with all commands below it: `man doorstep-websites`. */
export const manPages = (commands: readonly Command[], version: string): ManPage[] => {
  const shown = commands.filter(({ hidden }) => hidden !== true);
  const firstWords = childrenOf('', shown);
  const main = page('doorstep', 'Create client websites, give clients access, and follow deliveries', version, [
    section('SYNOPSIS', [`${bold('doorstep')} <command> [options]`]),
    section('EXAMPLES', examples(rootExamples)),
    section('COMMANDS', firstWords.map(tagged)),
    section('OPTIONS', globalOptions.map(tagged)),
    section('ENVIRONMENT', environment.map(tagged)),
    section('EXIT STATUS', [
      tagged(['0', 'Done.']),
      tagged(['1', 'Something failed, a mistake in the command line too. The message is on standard error.']),
      tagged(['130', 'Stopped by Ctrl-C.']),
    ]),
    section('SEE ALSO', [firstWords.map(([word]) => reference(word)).join(',\n')]),
  ]);
  return [['doorstep.1', main], ...firstWords.map(([word]) => pageOf(word, shown, version))];
};

const pageOf = (word: string, shown: readonly Command[], version: string): ManPage => {
  const own = shown.find(({ name }) => name === word);
  const below = shown.filter(({ name }) => name.startsWith(`${word} `));
  const text = page(`doorstep-${word}`, own?.summary ?? groupSummaries[word] ?? word, version, [
    section('SYNOPSIS', [[...(own === undefined ? [] : [own]), ...below].map((command) => bold(usage(command))).join('\n.br\n')]),
    ...(own === undefined ? [] : described(own, 'SH')),
    ...(below.length === 0
      ? []
      : [
          section(
            'COMMANDS',
            below.map((command) => described(command, 'SS').join('')),
          ),
        ]),
    section('GLOBAL OPTIONS', globalOptions.map(tagged)),
    section('SEE ALSO', [reference('')]),
  ]);
  return [`doorstep-${word}.1`, text];
};

/** What a command does: as sections of a page, or as one of its subsections. */
const described = (command: Command, level: 'SH' | 'SS'): string[] => {
  const about = `${command.summary}.${command.description === undefined ? '' : ` ${command.description}`}`;
  const entries = [
    ...Object.entries(command.arguments ?? {}).map(([name, argument]): Entry => [
      argumentAsWritten(name, argument),
      argument.summary,
    ]),
    ...ownOptions(command),
    ...commonOptions(command),
  ].map(tagged);
  return level === 'SH'
    ? [section('DESCRIPTION', [escape(about)]), section('EXAMPLES', examples(command.examples)), section('OPTIONS', entries)]
    : [`.SS ${escape(command.name)}\n${[escape(about), ...examples(command.examples), ...entries].join('\n')}`];
};

/** A backslash, a leading dot or quote, and a hyphen have a meaning of their own in troff, which reads ASCII. */
const escape = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1')
    .replaceAll(
      /[^ -~\n]/gu,
      (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );

const bold = (text: string): string => `\\fB${escape(text)}\\fR`;

/** A long list of choices may be broken after each. */
const tagged = ([written, summary]: Entry): string => `.TP\n${bold(written).replaceAll('|', '|\\:')}\n${escape(summary)}`;

const section = (heading: string, paragraphs: readonly string[]): string =>
  paragraphs.length === 0 ? '' : `.SH ${heading}\n${paragraphs.join('\n')}\n`;

const examples = (all: Command['examples']): string[] =>
  all.map(([does, line]) => `.PP\n${escape(does)}:\n.PP\n.nf\n.RS\n$ ${bold(`doorstep ${line}`)}\n.RE\n.fi`);

const reference = (word: string): string => `\\fBdoorstep${word === '' ? '' : `\\-${escape(word)}`}\\fR(1)`;

const page = (name: string, summary: string, version: string, sections: readonly string[]): string =>
  [
    `.TH "${escape(name.toUpperCase())}" 1 "" "doorstep ${version}" "Doorstep"\n`,
    // Words of the command line are neither spread nor broken.
    '.ad l\n.nh\n',
    `.SH NAME\n${escape(name)} \\- ${escape(summary)}\n`,
    ...sections,
  ].join('');
