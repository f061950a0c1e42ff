import type { AccessExplanation, TransferLedger } from '@doorstep/sdk';
import { clean } from '../output.js';
import { pad } from '../table.js';
import { widest, wrapped, type Drawing } from './drawing.js';
import { money, longDay } from './words.js';

const marks = { everything: '✓', some: '◐', nothing: '○' } as const;

const areaMark = (may: keyof typeof marks, { style }: Drawing): string =>
  may === 'everything' ? style.green(marks.everything) : may === 'some' ? style.yellow(marks.some) : style.dim(marks.nothing);

/** What a person may do at a website: by area, or with the rule of each operation. */
export const accessLines = (
  website: string,
  { person, areas, fields }: AccessExplanation,
  drawing: Drawing,
  operations: boolean,
): string[] => {
  const { style, width } = drawing;
  const who = person.name ?? person.email ?? person.subject ?? 'They';
  const role = { admin: 'an admin', owner: 'its owner', editor: 'an editor', viewer: 'a viewer', stranger: 'no client of it' };
  const column = widest(areas.map(({ area }) => area)) + 3;
  const hidden = fields.filter(({ visible }) => !visible);
  return [
    ...wrapped(clean(`${who} at ${website}: ${role[person.standing]}. ${person.why}`), width),
    ...areas.flatMap(({ area, may, operations: all }) => [
      `  ${areaMark(may, drawing)} ${pad(area, column)}${style.dim(may)}`,
      ...(operations
        ? all.flatMap(({ summary, allowed, why }) => [
            `    ${allowed ? style.green('✓') : style.red('✗')} ${wrapped(summary, width - 6).join('\n      ')}`,
            ...wrapped(why, width, '      ').map((line) => style.dim(line)),
          ])
        : []),
    ]),
    ...hidden.flatMap(({ field, why }) => wrapped(clean(`Not shown: ${field}. ${why}`), width, '  ')),
  ];
};

/** What a transfer moves, what stays, who pays. */
export const ledgerLines = (website: string, ledger: TransferLedger, drawing: Drawing): string[] => {
  const { style, width } = drawing;
  const status = { open: 'open', expired: 'expired', under_way: 'under way', completed: 'completed' };
  const row = (mark: string, text: string): string[] =>
    wrapped(clean(text), width - 4, '').map((line, index) => `  ${index === 0 ? mark : ' '} ${line}`);
  const section = (title: string, rows: readonly string[]): string[] =>
    rows.length === 0 ? [] : ['', style.bold(title), ...rows];
  const price = ({ amount, currency, interval }: NonNullable<TransferLedger['pays'][number]['price']>): string =>
    amount === undefined || currency === undefined
      ? ''
      : ` (${money(amount, currency)}${interval === undefined ? '' : ` a ${interval}`})`;
  return [
    clean(`${website} to ${ledger.email}: ${status[ledger.status]}.`),
    ...section(
      'Moves',
      ledger.moves.flatMap(({ what, doneAt }) => row(doneAt === undefined ? style.dim('○') : style.green('✓'), what)),
    ),
    ...section(
      'Stays',
      ledger.stays.flatMap(({ what }) => row(style.dim('·'), what)),
    ),
    ...section(
      'Pays',
      ledger.pays.flatMap(({ what, price: asked, from }) =>
        row(
          style.dim('·'),
          `${what}${asked === undefined ? '' : price(asked)}${from === undefined ? '' : `, from ${longDay(from, drawing)}`}`,
        ),
      ),
    ),
    ...section(
      'Missing',
      ledger.missing.flatMap(({ what }) => row(style.yellow('!'), what)),
    ),
  ];
};
