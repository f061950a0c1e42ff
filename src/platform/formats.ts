import type { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isTime } from './times.js';

/**
 * Adds the string formats that this service's schemas use: `date-time` (RFC 3339, limited to times
 * that `Date` can hold), and ajv-formats' full `email` and `uri`, with e-mail addresses of at most
 * 254 characters (RFC 5321, 4.5.3.1.3, without the angle brackets).
 */
export const addFormatsTo = (ajv: Ajv2020): Ajv2020 => {
  addFormats.default(ajv, { mode: 'full', formats: ['email', 'uri'] });
  ajv.addFormat('date-time', isTime);
  return ajv;
};
