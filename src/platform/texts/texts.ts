import { html, Html } from '../html.js';
import { de } from './de.js';
import { en, type Texts } from './en.js';

export type { Texts };

const textsByLanguage = { en, de } as const satisfies Record<string, Texts>;

/** A language that the service speaks, as BCP 47 names it. */
export type Language = keyof typeof textsByLanguage;

/** The first is for readers who ask for none of them. */
export const languages = Object.keys(textsByLanguage) as readonly Language[];

export const defaultLanguage: Language = 'en';

export const textsOf = (language: Language): Texts => textsByLanguage[language];

const gap = /\{\{(\w+)\}\}/g;

const valueOf = <Value>(values: Readonly<Record<string, Value>>, name: string): Value => {
  const value = values[name];
  if (value === undefined) throw new Error(`nothing was given for {{${name}}}`);
  return value;
};

/** A text with its gaps filled, in one pass: what is filled in is not searched for gaps. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(gap, (_, name: string) => valueOf(values, name));

/** As `fill`, as markup: texts are escaped, `Html` is taken as it is. */
export const fillHtml = (text: string, values: Readonly<Record<string, string | Html>>): Html =>
  new Html(html`${text}`.markup.replaceAll(gap, (_, name: string) => html`${valueOf(values, name)}`.markup));

/** A day in UTC as people write it, such as 1 December 2026. */
export const dayIn = ({ locale }: Texts, time: string | number): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(time));
