import type { Command } from './command.js';
import {
  argumentAsWritten,
  childrenOf,
  commonOptions,
  environment,
  globalOptions,
  groupSummaries,
  ownOptions,
  usage,
  type Entry,
} from './help.js';

/** A page for `man`: its file's name, and its text in troff's man macros. */
export type ManPage = readonly [file: string, text: string];

/** A page for the program, and one for each group and each command: `man doorstep-websites-create`. */
export const manPages = (commands: readonly Command[], version: string): ManPage[] => {
  const shown = commands.filter(({ hidden }) => hidden !== true);
  const pageOf = (command: Command): ManPage => [
    `doorstep-${dashed(command.name)}.1`,
    page(`doorstep-${dashed(command.name)}`, command.summary, version, [
      section('SYNOPSIS', [bold(usage(command))]),
      section('DESCRIPTION', [
        escape(`${command.summary}.${command.description === undefined ? '' : ` ${command.description}`}`),
      ]),
      section('EXAMPLES', examples(command.examples)),
      section(
        'ARGUMENTS',
        Object.entries(command.arguments ?? {}).map(([name, argument]) =>
          tagged([argumentAsWritten(name, argument), argument.summary]),
        ),
      ),
      section('OPTIONS', [...ownOptions(command), ...commonOptions(command), ...globalOptions].map(tagged)),
      section('SEE ALSO', [reference(command.name.split(' ').slice(0, -1).join(' '))]),
    ]),
  ];
  const groups = Object.keys(groupSummaries).filter(
    (group) => !shown.some(({ name }) => name === group) && shown.some(({ name }) => name.startsWith(`${group} `)),
  );
  const groupPageOf = (group: string): ManPage => [
    `doorstep-${dashed(group)}.1`,
    page(`doorstep-${dashed(group)}`, groupSummaries[group] ?? '', version, [
      section('COMMANDS', childrenOf(group, shown).map(tagged)),
      section('SEE ALSO', [reference(''), ...childrenOf(group, shown).map(([name]) => reference(name))]),
    ]),
  ];
  const main: ManPage = [
    'doorstep.1',
    page('doorstep', 'create client websites, give clients access, and show them where their website stands', version, [
      section('SYNOPSIS', [`${bold('doorstep')} <command> [options]`]),
      section('COMMANDS', childrenOf('', shown).map(tagged)),
      section('OPTIONS', globalOptions.map(tagged)),
      section('ENVIRONMENT', environment.map(tagged)),
      section('EXIT STATUS', [
        tagged(['0', 'Done.']),
        tagged(['1', 'Something failed, a mistake in the command line too. The message is on standard error.']),
        tagged(['130', 'Stopped by Ctrl-C.']),
      ]),
    ]),
  ];
  return [main, ...groups.map(groupPageOf), ...shown.map(pageOf)];
};

const dashed = (name: string): string => name.replaceAll(' ', '-');

/** A backslash, a leading dot or quote, and a hyphen have a meaning of their own in troff. */
const escape = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1');

const bold = (text: string): string => `\\fB${escape(text)}\\fR`;

const tagged = ([written, summary]: Entry): string => `.TP\n${bold(written)}\n${escape(summary)}`;

const section = (heading: string, paragraphs: readonly string[]): string =>
  paragraphs.length === 0 ? '' : `.SH ${heading}\n${paragraphs.join('\n')}\n`;

const examples = (all: Command['examples']): string[] =>
  all.map(([does, line]) => `.PP\n${escape(does)}:\n.PP\n.nf\n.RS\n$ ${bold(`doorstep ${line}`)}\n.RE\n.fi`);

const reference = (name: string): string => `.BR ${escape(name === '' ? 'doorstep' : `doorstep-${dashed(name)}`)} (1)`;

const page = (name: string, summary: string, version: string, sections: readonly string[]): string =>
  [
    `.TH "${escape(name.toUpperCase())}" 1 "" "doorstep ${version}" "Doorstep"\n`,
    `.SH NAME\n${escape(name)} \\- ${escape(summary)}\n`,
    ...sections,
  ].join('');
