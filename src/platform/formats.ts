import type { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/**
 * The string formats that schemas of this service use: RFC 3339 `date-time` and `email` of ajv-formats in their full form,
 * with e-mail addresses limited to 254 characters (RFC 5321, 4.5.3.1.3, less the angle brackets).
 */
export const addFormatsTo = (ajv: Ajv2020): Ajv2020 => {
  addFormats.default(ajv, { mode: 'full', formats: ['date-time', 'email', 'uri'] });
  return ajv;
};
