import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AnySchemaObject, ValidateFunction } from 'ajv/dist/2020.js';
import { addFormatsTo } from '../platform/formats.js';
import type { EventDefinitions } from './defineStream.js';
import type { DomainEvent, EventMetadata, JsonObject, Recorded } from './envelope.js';
import type { NewEvent, StoredEvent } from './store/eventStore.js';

/** Between domain events and what is stored: strict when written, permissive when read. */
export interface Codec {
  /**
   * @throws EventRejected when the data does not match the type's schema, or has other fields: a
   *   defect of a decider, never of the caller
   */
  encode(event: DomainEvent, id: string, metadata: EventMetadata): NewEvent;
  /**
   * Brings the event up to the current version of its type. Fields that the schema does not know
   * are kept.
   * @throws UnknownEvent for a type or version that this build does not know, so that a fold stops
   *   instead of guessing
   */
  decode(stored: StoredEvent): Recorded;
}

export class EventRejected extends Error {
  override readonly name = 'EventRejected';
}

export class UnknownEvent extends Error {
  override readonly name = 'UnknownEvent';
}

export const createCodec = (definitions: EventDefinitions): Codec => {
  const ajv = addFormatsTo(new Ajv2020({ strict: true }));
  const validators = new Map<string, ValidateFunction>();
  const known = new Map(Object.entries(definitions));

  const definitionOf = (type: string, version: number) => {
    const definition = known.get(type);
    if (definition === undefined || !Number.isInteger(version) || version < 1 || version > definition.schemaVersion) {
      throw new UnknownEvent(`event type ${type} version ${String(version)} is not known to this build`);
    }
    return definition;
  };

  // Compiled on first use, so that a start compiles only what it needs.
  const validatorOf = (type: string): ValidateFunction => {
    let validate = validators.get(type);
    if (validate === undefined) {
      validate = ajv.compile(withKnownFieldsOnly(definitionOf(type, 1).schema) as AnySchemaObject);
      validators.set(type, validate);
    }
    return validate;
  };

  return {
    encode: ({ type, data }, id, metadata) => {
      const validate = validatorOf(type);
      if (!validate(data)) {
        // The error names the path only: the value may be personal.
        throw new EventRejected(
          `${type}: ${(validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`).join('; ')}`,
        );
      }
      return { id, type, schemaVersion: definitionOf(type, 1).schemaVersion, data: data as JsonObject, metadata };
    },

    decode: ({ id, type, schemaVersion, data, metadata, stream, revision, position }) => {
      const { upcasters } = definitionOf(type, schemaVersion);
      const current = upcasters.slice(schemaVersion - 1).reduce((older, upcast) => upcast(older), data);
      return { type, data: current, id, stream, revision, position, metadata };
    },
  };
};

/**
 * The schema without additional properties in any object: an unintended field would stay in the log
 * for ever.
 */
const withKnownFieldsOnly = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withKnownFieldsOnly);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, withKnownFieldsOnly(part)]));
  return 'properties' in parts ? { additionalProperties: false, ...parts } : parts;
};
