import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import de from './de.json?url';
import en from './en.json?url';

/** A language is a file here, and a line. */
const languages = { en, de } as const;

type Language = keyof typeof languages;

const isLanguage = (tag: string): tag is Language => tag in languages;

const key = 'doorstep.language';

/** What was chosen here, else the first of the reader's languages that there is. */
const preferred = (): Language => {
  const tags = [localStorage.getItem(key) ?? '', ...navigator.languages].map((tag) => tag.slice(0, 2));
  return tags.find(isLanguage) ?? 'en';
};

const loadOnce = async (language: Language): Promise<object> => {
  const answer = await fetch(languages[language]);
  if (!answer.ok) throw new Error(`The texts of ${language} did not come: ${String(answer.status)}`);
  return (await answer.json()) as object;
};

/** A connection that broke is often there again at once. */
const load = (language: Language): Promise<object> => loadOnce(language).catch(() => loadOnce(language));

/** Resolves when the texts of the reader's language are there; rejects when they cannot be loaded. */
export const startI18n = async (): Promise<void> => {
  const language = preferred();
  document.documentElement.lang = language;
  await i18next.use(initReactI18next).init({
    lng: language,
    resources: { [language]: { translation: await load(language) } },
    interpolation: { escapeValue: false },
    returnNull: false,
  });
};

/** Shows the portal in another language from now on, here. */
export const chooseLanguage = (language: Language): void => {
  localStorage.setItem(key, language);
  location.reload();
};

export { languages, type Language };
