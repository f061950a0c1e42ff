import { qualitiesOf } from '../qualities.js';
import { defaultLanguage, languages, type Language } from './texts.js';

/** What says which language somebody reads. */
export interface LanguagePreferences {
  /** `ui_locales` of OpenID Connect (Core 1.0, 3.1.2.1): separated by spaces, the preferred one first. */
  readonly uiLocales?: string | undefined;
  readonly acceptLanguage?: string | undefined;
}

/** The language of a page: that of `ui_locales`, else the browser's, else English. */
export const languageOf = ({ uiLocales = '', acceptLanguage = '' }: LanguagePreferences): Language =>
  bestOf(uiLocales.trim().replaceAll(/\s+/g, ',')) ?? bestOf(acceptLanguage) ?? defaultLanguage;

/** As RFC 4647 (3.4) looks a language up: `de-AT` asks for German. */
const bestOf = (header: string): Language | null => {
  const qualities = qualitiesOf(header);
  const asked = [...qualities].filter(([, quality]) => quality > 0).sort(([, one], [, other]) => other - one);
  for (const [range] of asked) {
    const primary = range.split('-', 1)[0];
    const found = languages.find((language) => (range === '*' ? qualities.get(language) !== 0 : language === primary));
    if (found !== undefined) return found;
  }
  return null;
};
