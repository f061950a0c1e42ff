import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import de from './de.json?url';
import en from './en.json?url';
import serviceDe from './service/de.json?url';
import { serviceNamespace } from './serviceWords.js';

/** A language is a file here, and a line. */
const languages = { en, de } as const;

/** What the service says, in the languages that it does not speak. */
const serviceWords: Readonly<Partial<Record<keyof typeof languages, string>>> = { de: serviceDe };

type Language = keyof typeof languages;

const isLanguage = (tag: string): tag is Language => tag in languages;

const key = 'doorstep.language';

/** What was chosen here, else the first of the reader's languages that there is. */
const preferred = (): Language => {
  const tags = [localStorage.getItem(key) ?? '', ...navigator.languages].map((tag) => tag.slice(0, 2));
  return tags.find(isLanguage) ?? 'en';
};

const loadOnce = async (address: string): Promise<object> => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`The texts at ${address} did not come: ${String(answer.status)}`);
  return (await answer.json()) as object;
};

/** A connection that broke is often there again at once. */
const load = (address: string): Promise<object> => loadOnce(address).catch(() => loadOnce(address));

/** Resolves when the texts of the reader's language are there; rejects when they cannot be loaded. */
export const startI18n = async (): Promise<void> => {
  const language = preferred();
  document.documentElement.lang = language;
  const own = serviceWords[language];
  const [translation, service] = await Promise.all([load(languages[language]), own === undefined ? undefined : load(own)]);
  await i18next.use(initReactI18next).init({
    lng: language,
    resources: { [language]: { translation, ...(service !== undefined && { [serviceNamespace]: service }) } },
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
