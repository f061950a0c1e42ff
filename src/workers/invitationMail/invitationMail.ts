import type { Mail } from '../../integrations/email/port.js';
import { invitationTemplate } from './template.js';
import type { InvitationState } from '../../events/access/access.state.js';

export interface Invited {
  readonly invitation: Pick<InvitationState, 'kind' | 'role' | 'expiresAt'>;
  readonly websiteName: string;
  /** Where the invitation is accepted. */
  readonly link: string;
}

/** The mail that invites a person to a website: subject, HTML and the same in plain text. */
export const composeInvitationMail = async (invited: Invited): Promise<Pick<Mail, 'subject' | 'html' | 'text'>> => {
  const words = wordsFor(invited);
  const { heading, body, action, terms, link } = words;
  return {
    subject: subjectOf(heading),
    html: fill(await skeleton(), words),
    text: `${heading}\n\n${body}\n\n${action}:\n${link}\n\n${terms}\n\nIf you did not expect this invitation, you can leave it be: nothing happens until you accept it.\n`,
  };
};

const wordsFor = ({ invitation, websiteName, link }: Invited) => {
  const { kind, role, expiresAt } = invitation;
  const name = oneLine(websiteName);
  const until = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(expiresAt));
  const terms = `The invitation is meant for you alone: sign in with the address that it was sent to. It can be accepted until ${until}.`;
  if (kind === 'ownership_transfer') {
    return {
      heading: `${name} is ready for you to take over`,
      preview: `Accept the invitation and become the owner of ${name}.`,
      body: `You have been invited to become the owner of the website ${name}. As its owner you see how it is coming along, its documents and its figures, and you look after its billing.`,
      action: 'Become the owner',
      terms,
      link,
    };
  }
  const can =
    role === 'editor'
      ? 'see how it is coming along, read its documents and figures, and edit its content'
      : 'see how it is coming along and read its documents and figures';
  return {
    heading: `You are invited to ${name}`,
    preview: `Accept the invitation to see how ${name} is coming along.`,
    body: `You have been given access to the website ${name}. Once you have accepted, you can ${can}.`,
    action: 'Accept the invitation',
    terms,
    link,
  };
};

/**
 * Replaces line breaks and other control characters: in a subject, a line break would begin another
 * header.
 */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();

const MAX_SUBJECT_LENGTH = 150;

const subjectOf = (heading: string): string => {
  const characters = Array.from(heading);
  return characters.length <= MAX_SUBJECT_LENGTH ? heading : `${characters.slice(0, MAX_SUBJECT_LENGTH - 1).join('')}…`;
};

/** The HTML with its gaps, made once per process: loading MJML takes longer than all else. */
let skeletonMade: Promise<string> | undefined;
const skeleton = (): Promise<string> => (skeletonMade ??= makeSkeleton());

const makeSkeleton = async (): Promise<string> => {
  const { default: mjml2html } = await import('mjml');
  const { html } = await mjml2html(invitationTemplate, { validationLevel: 'strict', fonts: {} });
  return html;
};

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Fills in one pass, so that filled-in text is not searched for placeholders. */
const fill = (html: string, words: Readonly<Record<string, string>>): string =>
  html.replaceAll(/\[\[(\w+)\]\]/g, (_, name: string) =>
    (words[name] ?? '').replaceAll(/[&<>"']/g, (character) => entities[character] ?? ''),
  );
