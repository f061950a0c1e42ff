/** Trusted markup, as opposed to text that needs escaping. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Value = string | Html | readonly Html[];

/** A template tag that escapes interpolated texts. */
export const html = (template: TemplateStringsArray, ...values: readonly Value[]): Html =>
  new Html(template.reduce((markup, part, index) => markup + markupOf(values[index - 1] ?? '') + part));

const markupOf = (value: Value): string => {
  if (value instanceof Html) return value.markup;
  if (typeof value === 'string') return value.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
  return value.map(({ markup }) => markup).join('');
};

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
