import type { InvitationState } from '../../events/access/access.state.js';
import { composeMail, type ComposedMail, type MailLook } from '../../platform/mail/composeMail.js';
import { dayIn, fill, textsOf, type Language } from '../../platform/texts/texts.js';

export interface Invited {
  readonly invitation: Pick<InvitationState, 'kind' | 'role' | 'expiresAt'>;
  readonly websiteName: string;
  /** Where the invitation is accepted. */
  readonly link: string;
}

/** The mail that invites a person to a website: subject, HTML and the same in plain text. */
export const composeInvitationMail = (
  { invitation: { kind, role, expiresAt }, websiteName: website, link }: Invited,
  language: Language,
  look: MailLook,
): Promise<ComposedMail> => {
  const texts = textsOf(language);
  const { invitationMail: words } = texts;
  const isTransfer = kind === 'ownership_transfer';
  const access = role === 'editor' ? words.editor : words.viewer;
  return composeMail(
    {
      heading: fill(isTransfer ? words.transferSubject : words.subject, { website }),
      preview: fill(isTransfer ? words.transferPreview : words.preview, { website }),
      rows: [
        { row: 'text', words: fill(isTransfer ? words.transfer : access, { brand: look.brand.name, website }) },
        { row: 'button', words: isTransfer ? words.takeOver : words.accept, link },
        { row: 'address', words: texts.mail.fallback, link },
        { row: 'quiet', words: fill(words.terms, { day: dayIn(texts, expiresAt) }) },
      ],
      footer: words.unexpected,
    },
    language,
    look,
  );
};
