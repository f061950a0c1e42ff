import { fileURLToPath } from 'node:url';
import { defaultBrand, type Brand } from '../../src/platform/brand.js';
import { composeMail, type MailLook } from '../../src/platform/mail/composeMail.js';

/** Where the build put the HTML of mails. */
export const mailsFolder = fileURLToPath(new URL('../../dist/mails', import.meta.url));

export const lookOf = (brand: Partial<Brand> = {}): MailLook => ({ brand: { ...defaultBrand, ...brand }, folder: mailsFolder });

/** Reads the HTML of mails, which takes real time: virtual time would not wait for it. */
export const readMails = (): Promise<unknown> => composeMail({ heading: 'x', rows: [] }, 'en', lookOf());
