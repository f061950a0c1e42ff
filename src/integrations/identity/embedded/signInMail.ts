import { composeMail, type ComposedMail, type MailLook } from '../../../platform/mail/composeMail.js';
import { fill, textsOf, type Language } from '../../../platform/texts/texts.js';

/** The mail with the one-time link and code. `until` is in milliseconds since the Unix epoch. */
export const composeSignInMail = (
  { link, code, until }: { readonly link: string; readonly code: string; readonly until: number },
  language: Language,
  look: MailLook,
): Promise<ComposedMail> => {
  const { locale, signInMail: texts } = textsOf(language);
  const brand = look.brand.name;
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' }).format(new Date(until));
  return composeMail(
    {
      heading: fill(texts.subject, { brand }),
      rows: [
        { row: 'text', words: texts.openLink },
        { row: 'button', words: texts.signIn, link },
        { row: 'text', words: texts.typeCode },
        { row: 'code', words: code },
        { row: 'quiet', words: fill(texts.once, { time }) },
      ],
      footer: fill(texts.caution, { brand }),
    },
    language,
    look,
  );
};
