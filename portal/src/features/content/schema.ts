import { inReadersLanguage } from '../../i18n/serviceWords.js';
import { isList, isObject, type Path } from './json.js';

interface Titled {
  readonly title: string;
  readonly help?: string | undefined;
}

export interface ObjectField extends Titled {
  readonly kind: 'object';
  readonly fields: readonly { readonly name: string; readonly field: Field; readonly required: boolean }[];
}

export interface ListField extends Titled {
  readonly kind: 'list';
  readonly item: Field;
  readonly min: number;
  readonly max: number;
}

export interface TextField extends Titled {
  readonly kind: 'text';
  readonly long: boolean;
  readonly type: 'email' | 'url' | 'text';
  readonly choices?: readonly string[] | undefined;
}

/** What a template declares, as far as a form can be drawn from it. `other` is edited as JSON. */
export type Field = ObjectField | ListField | TextField | (Titled & { readonly kind: 'number' | 'yesNo' | 'picture' | 'other' });

/** In the reader's language: the service's own templates speak English. */
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? inReadersLanguage(value) : undefined);
const numberOf = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);

/** "phoneLink" as words, for what has no title. */
const wordsOf = (name: string): string => {
  const words = name.replaceAll(/([a-z])([A-Z])|[-_]+/g, '$1 $2').toLowerCase();
  return words.slice(0, 1).toUpperCase() + words.slice(1);
};

const isText = (value: unknown): value is string => typeof value === 'string';

/** Reads a JSON Schema of a template. */
const fieldOf = (schema: unknown, name: string): Field => {
  if (!isObject(schema)) return { kind: 'other', title: wordsOf(name) };
  const titled = { title: textOf(schema['title']) ?? wordsOf(name), help: textOf(schema['description']) };
  const { type, properties, items, format } = schema;
  if (schema['x-widget'] === 'image') return { ...titled, kind: 'picture' };
  if (type === 'object' && isObject(properties)) {
    const required = isList(schema['required']) ? schema['required'] : [];
    const fields = Object.entries(properties).map(([part, of]) => ({
      name: part,
      field: fieldOf(of, part),
      required: required.includes(part),
    }));
    return { ...titled, kind: 'object', fields };
  }
  if (type === 'array' && isObject(items)) {
    const [min, max] = [numberOf(schema['minItems'], 0), numberOf(schema['maxItems'], Infinity)];
    return { ...titled, kind: 'list', item: fieldOf(items, name), min, max };
  }
  if (type === 'string') {
    const choices = isList(schema['enum']) ? schema['enum'].filter(isText) : undefined;
    const kind = format === 'email' ? 'email' : format === 'uri' ? 'url' : 'text';
    return { ...titled, kind: 'text', long: schema['x-widget'] === 'text', type: kind, choices };
  }
  if (type === 'number' || type === 'integer') return { ...titled, kind: 'number' };
  if (type === 'boolean') return { ...titled, kind: 'yesNo' };
  return { ...titled, kind: 'other' };
};

/** Of a document: what the template declares; null: it is free. */
export const fieldOfDocument = (editable: unknown, documentId: string): Field | null => {
  const declared = isObject(editable) && isObject(editable['properties']) ? editable['properties'][documentId] : undefined;
  return declared === undefined ? null : fieldOf(declared, documentId);
};

/** What a new entry of a list begins with. */
export const emptyOf = (field: Field): unknown => {
  switch (field.kind) {
    case 'object':
      return Object.fromEntries(
        field.fields.filter(({ required }) => required).map(({ name, field: part }) => [name, emptyOf(part)]),
      );
    case 'list':
      return [];
    case 'text':
      return field.choices?.[0] ?? '';
    case 'number':
      return 0;
    case 'yesNo':
      return false;
    case 'picture':
    case 'other':
      return null;
  }
};

/** "Services › 2 › Title": a place in words. */
export const titleAt = (field: Field | null, path: Path): string => {
  const [step, ...rest] = path;
  if (step === undefined) return '';
  const part =
    field?.kind === 'object'
      ? field.fields.find(({ name }) => name === step)?.field
      : field?.kind === 'list'
        ? field.item
        : undefined;
  const own = typeof step === 'number' ? String(step + 1) : (part?.title ?? wordsOf(step));
  const below = titleAt(part ?? null, rest);
  return below === '' ? own : `${own} › ${below}`;
};
