import type { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isTime } from './times.js';

/**
 * The string formats that schemas of this service use: `date-time` (RFC 3339) as far as a time can be kept, so that whoever gets
 * one may parse it, and `email` and `uri` of ajv-formats in their full form, with e-mail addresses limited to 254 characters
 * (RFC 5321, 4.5.3.1.3, less the angle brackets).
 */
export const addFormatsTo = (ajv: Ajv2020): Ajv2020 => {
  addFormats.default(ajv, { mode: 'full', formats: ['email', 'uri'] });
  ajv.addFormat('date-time', isTime);
  return ajv;
};
