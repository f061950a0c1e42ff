import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { paletteOf, type Brand } from '../brand.js';
import { html, type Html } from '../html.js';
import type { Language } from '../texts/texts.js';

/** How mails look: the agency's brand, and the folder where the build put their HTML. */
export interface MailLook {
  readonly brand: Brand;
  readonly folder: string;
}

/** One row of a mail. `address` shows a button's link, for mail programs that show no buttons; plain text has it anyway. */
export type MailRow =
  | { readonly row: 'text' | 'quiet' | 'code'; readonly words: string }
  | { readonly row: 'button' | 'address'; readonly words: string; readonly link: string };

export interface MailContent {
  readonly heading: string;
  /** What lists of mails show beside the subject. Default: the first row. */
  readonly preview?: string;
  readonly rows: readonly MailRow[];
  /** Below everything else. */
  readonly footer?: string;
}

export interface ComposedMail {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** A mail in the agency's name: subject, HTML and the same in plain text. */
export const composeMail = async (
  content: MailContent,
  language: Language,
  { brand, folder }: MailLook,
): Promise<ComposedMail> => {
  const heading = oneLine(content.heading);
  const rows = content.rows.map((row) => ({ ...row, words: oneLine(row.words) }));
  const { preview = rows[0]?.words ?? '', footer = '' } = content;
  const { start, row, end } = await readSkeleton(folder);
  const colours = coloursOf(brand);
  const rowMarkup = (one: MailRow): string => fillGaps(row(one.row), { ...colours, ...one });
  const frame = { ...colours, language, heading, preview, footer, agency: agencyOf(brand) };
  return {
    subject: shortened(heading),
    html: fillGaps(start, frame) + rows.map(rowMarkup).join('') + fillGaps(end, frame),
    text: `${[heading, ...rows.flatMap(rowText), footer || brand.name].join('\n\n')}\n`,
  };
};

const rowText = (one: MailRow): readonly string[] => {
  if (one.row === 'address') return [];
  return [one.row === 'button' ? `${one.words}:\n${one.link}` : one.words];
};

/**
 * Replaces line breaks and other control characters: in a subject, a line break would begin another
 * header.
 */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();

const maxSubjectLength = 150;

const shortened = (heading: string): string => {
  const characters = Array.from(heading);
  return characters.length <= maxSubjectLength ? heading : `${characters.slice(0, maxSubjectLength - 1).join('')}…`;
};

/** The HTML with its gaps, which the build makes from MJML (`scripts/mails.mjs`). */
interface Skeleton {
  readonly start: string;
  readonly row: (name: MailRow['row']) => string;
  readonly end: string;
}

/** Those that were read, by their files. */
const skeletons = new Map<string, Promise<Skeleton>>();

const readSkeleton = (folder: string): Promise<Skeleton> => {
  const file = join(folder, 'mail.html');
  const known = skeletons.get(file) ?? readFile(file, 'utf8').then(parseSkeleton);
  skeletons.set(file, known);
  // A file that could not be read is tried again with the next mail.
  known.catch(() => skeletons.delete(file));
  return known;
};

const parseSkeleton = (markup: string): Skeleton => {
  const [start = '', ...named] = markup.split(/<!--row (\w+)-->/);
  const parts = new Map<string, string>();
  for (let index = 0; index < named.length; index += 2) parts.set(named[index] ?? '', named[index + 1] ?? '');
  const part = (name: string): string => {
    const found = parts.get(name);
    if (found === undefined) throw new Error(`the HTML of the mails has no row "${name}": build the service again`);
    return found;
  };
  return { start, row: part, end: part('end') };
};

/** The agency: its logo, or the first letter of its name on its colour, and its name. */
const agencyOf = (brand: Brand): Html => {
  const { name, logo } = brand;
  const [initial = ''] = name.toLocaleUpperCase();
  const colours = paletteOf(brand, 'light');
  const picture =
    logo === undefined
      ? html`<span
          aria-hidden="true"
          style="display:inline-block;width:28px;margin-right:10px;border:1px solid ${colours.brandEdge};border-radius:8px;background:${colours.brand};color:${colours.brandInk};font-weight:700;line-height:28px;text-align:center"
          >${initial}</span
        >`
      : html`<img src="${logo}" alt="" height="40" style="height:40px;max-width:50%;margin-right:12px;vertical-align:middle" />`;
  return html`${picture}<span style="display:inline-block;max-width:100%;vertical-align:middle">${name}</span>`;
};

const coloursOf = (brand: Brand): Readonly<Record<string, string>> => {
  const dark = Object.entries(paletteOf(brand, 'dark')).map(
    ([name, colour]) => [`dark${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, colour] as const,
  );
  return { ...paletteOf(brand, 'light'), ...Object.fromEntries(dark) };
};

/** Fills in one pass, so that filled-in text is not searched for gaps. */
const fillGaps = (markup: string, values: Readonly<Record<string, string | Html>>): string =>
  markup.replaceAll(/\[\[(\w+)\]\]/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`nothing was given for [[${name}]]`);
    return html`${value}`.markup;
  });
