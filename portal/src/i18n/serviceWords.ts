import i18next from 'i18next';

/** What the service says in English, in another language. In both maps `{name}` stands for a part that is taken over. */
export interface ServiceWords {
  /** By the code of an error. `{words}` is what the service says of it. */
  readonly codes: Readonly<Partial<Record<string, string>>>;
  /** By the service's own sentence; the first that fits. */
  readonly sentences: Readonly<Record<string, string>>;
}

const place = /\{(\w+)\}/g;

/** A reason within a reason, as in `X refused: The build failed: …`. Deeper ones stay in English: a text has no bound. */
const maxDepth = 6;

/** `ServiceWords` in the form that is searched. Maps, because an object also has what its prototype has. */
interface Lookup {
  readonly codes: ReadonlyMap<string, string | undefined>;
  readonly whole: ReadonlyMap<string, string>;
  readonly withPlaces: readonly { readonly pattern: RegExp; readonly sentence: string }[];
}

const patternOf = (template: string): RegExp => {
  const literal = template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(place, '(?<$1>.+?)');
  return new RegExp(`^${literal}$`, 's');
};

/** Made once for each language: every render of a page asks for many texts. */
const lookups = new WeakMap<ServiceWords, Lookup>();

const lookupOf = (texts: ServiceWords): Lookup => {
  const known = lookups.get(texts);
  if (known !== undefined) return known;
  const sentences = Object.entries(texts.sentences);
  const hasPlace = ([template]: readonly [string, string]): boolean => template.search(place) >= 0;
  const lookup: Lookup = {
    codes: new Map(Object.entries(texts.codes)),
    whole: new Map(sentences.filter((entry) => !hasPlace(entry))),
    withPlaces: sentences.filter(hasPlace).map(([template, sentence]) => ({ pattern: patternOf(template), sentence })),
  };
  lookups.set(texts, lookup);
  return lookup;
};

const within = (lookup: Lookup, words: string, code: string | undefined, depth: number): string => {
  if (depth > maxDepth) return words;
  const fill = (sentence: string, parts: Readonly<Record<string, string>>): string =>
    sentence.replaceAll(place, (_, name: string) => within(lookup, parts[name] ?? '', undefined, depth + 1));
  const whole = lookup.whole.get(words);
  if (whole !== undefined) return whole;
  for (const { pattern, sentence } of lookup.withPlaces) {
    const match = pattern.exec(words);
    if (match !== null) return fill(sentence, match.groups ?? {});
  }
  const ofCode = code === undefined ? undefined : lookup.codes.get(code);
  return ofCode === undefined ? words : fill(ofCode, { words });
};

/** A sentence of the service as another language says it: by itself, else by the error's code, else as it is. */
export const translated = (texts: ServiceWords, words: string, code?: string): string => within(lookupOf(texts), words, code, 1);

/** The namespace of `i18next` that holds the words of the service. */
export const serviceNamespace = 'service';

/** A sentence of the service for the reader. In English it stays word for word. */
export const inReadersLanguage = (words: string, code?: string): string => {
  const texts = i18next.getResourceBundle(i18next.language, serviceNamespace) as ServiceWords | undefined;
  return texts === undefined ? words : translated(texts, words, code);
};
