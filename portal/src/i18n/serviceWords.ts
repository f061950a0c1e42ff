import i18next from 'i18next';

/** What the service says in English, in another language. In both maps `{name}` stands for a part that is taken over. */
export interface ServiceWords {
  /** By the code of an error. `{words}` is what the service says of it. */
  readonly codes: Readonly<Partial<Record<string, string>>>;
  /** By the service's own sentence; the first that fits. */
  readonly sentences: Readonly<Record<string, string>>;
}

const place = /\{(\w+)\}/g;

const partsIn = (template: string, words: string): Readonly<Record<string, string>> | undefined => {
  const literal = template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(place, '(?<$1>.+?)');
  const match = new RegExp(`^${literal}$`, 's').exec(words);
  return match === null ? undefined : (match.groups ?? {});
};

/** A sentence of the service as another language says it: by itself, else by the error's code, else as it is. */
export const translated = (texts: ServiceWords, words: string, code?: string): string => {
  const fill = (sentence: string, parts: Readonly<Record<string, string>>): string =>
    sentence.replaceAll(place, (_, name: string) => translated(texts, parts[name] ?? ''));
  const whole = texts.sentences[words];
  if (whole !== undefined) return whole;
  for (const [template, sentence] of Object.entries(texts.sentences)) {
    const parts = partsIn(template, words);
    if (parts !== undefined) return fill(sentence, parts);
  }
  const ofCode = code === undefined ? undefined : texts.codes[code];
  return ofCode === undefined ? words : fill(ofCode, { words });
};

/** The namespace of `i18next` that holds the words of the service. */
export const serviceNamespace = 'service';

/** A sentence of the service for the reader. In English it stays word for word. */
export const inReadersLanguage = (words: string, code?: string): string => {
  const texts = i18next.getResourceBundle(i18next.language, serviceNamespace) as ServiceWords | undefined;
  return texts === undefined ? words : translated(texts, words, code);
};
