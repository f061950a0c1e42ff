import type { Request } from 'express';
import type { LanguagePreferences } from '../../../platform/texts/languageOf.js';

/**
 * Which language a request asks for: by the `ui_locales` of the sign-in that it belongs to, else of its
 * own address, else by its browser.
 */
export const preferencesOf = (
  { headers, originalUrl }: Pick<Request, 'headers' | 'originalUrl'>,
  uiLocales?: string,
): LanguagePreferences => ({
  uiLocales: uiLocales ?? new URLSearchParams(originalUrl.split('?', 2)[1]).get('ui_locales') ?? undefined,
  acceptLanguage: headers['accept-language'],
});
