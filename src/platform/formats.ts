import type { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { asciiAddress } from './emailAddress.js';
import { isTime } from './times.js';

/**
 * Adds the string formats that this service's schemas use: `date-time` (RFC 3339, limited to times
 * that `Date` can hold), and ajv-formats' full `email` and `uri`. The domain of an address may be
 * international; the part before the @ may not, because few mail servers take it (RFC 6531).
 */
export const addFormatsTo = (ajv: Ajv2020): Ajv2020 => {
  addFormats.default(ajv, { mode: 'full', formats: ['uri'] });
  const plainEmail = addFormats.default.get('email', 'full') as RegExp;
  ajv.addFormat('email', (text: string) => plainEmail.test(asciiAddress(text)));
  ajv.addFormat('date-time', isTime);
  return ajv;
};
