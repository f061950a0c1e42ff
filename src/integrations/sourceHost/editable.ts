import { TemplateFault } from '../fault.js';
import type { EditableSchema } from './port.js';

/** Where a template says what people may edit of it; the name keeps it out of the published site. */
export const editableFile = '_content.schema.json';

/** @throws TemplateFault when the text is no JSON object with `properties` */
export const parseEditable = (provider: string, template: string, text: string): EditableSchema => {
  const refuse = (cause?: unknown): never => {
    const message = `${editableFile} of ${template} is not a JSON Schema with properties`;
    throw new TemplateFault({ provider, message, transient: false, cause });
  };
  let schema: Partial<EditableSchema> | null;
  try {
    schema = JSON.parse(text) as Partial<EditableSchema> | null;
  } catch (error) {
    return refuse(error);
  }
  const properties: unknown = schema?.properties;
  if (schema === null || typeof properties !== 'object' || properties === null || Array.isArray(properties)) return refuse();
  return { ...schema, properties: properties as EditableSchema['properties'] };
};
