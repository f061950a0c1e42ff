import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InvitationState } from '../../events/access/access.state.js';
import type { Mail } from '../../integrations/email/port.js';
import { paletteOf, type Brand } from '../../platform/brand.js';

export interface Invited {
  readonly invitation: Pick<InvitationState, 'kind' | 'role' | 'expiresAt'>;
  readonly websiteName: string;
  /** Where the invitation is accepted. */
  readonly link: string;
}

/** How mails look: the agency's brand, and the folder where the build put their HTML. */
export interface MailLook {
  readonly brand: Brand;
  readonly folder: string;
}

/** The mail that invites a person to a website: subject, HTML and the same in plain text. */
export const composeInvitationMail = async (
  invited: Invited,
  { brand, folder }: MailLook,
): Promise<Pick<Mail, 'subject' | 'html' | 'text'>> => {
  const words = wordsFor(invited);
  const { heading, body, action, terms, link } = words;
  return {
    subject: subjectOf(heading),
    html: fill(await readSkeleton(folder), { ...words, ...coloursFor(brand), agency: agencyOf(brand) }),
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

/** Those that were read, by their files. */
const skeletons = new Map<string, Promise<string>>();

/** The HTML with its gaps, which the build makes from MJML (`scripts/mails.mjs`). */
const readSkeleton = (folder: string): Promise<string> => {
  const file = join(folder, 'invitation.html');
  const known = skeletons.get(file) ?? readFile(file, 'utf8');
  skeletons.set(file, known);
  // A file that could not be read is tried again with the next mail.
  known.catch(() => skeletons.delete(file));
  return known;
};

/** What is filled in as it is, because it is markup of ours. */
class Markup {
  readonly html: string;

  constructor(html: string) {
    this.html = html;
  }
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');

/** The agency: its logo with its name beside it for those who do not see it, or the name. */
const agencyOf = ({ name, logo }: Brand): Markup =>
  new Markup(
    logo === undefined
      ? escaped(name)
      : `<img src="${escaped(logo)}" alt="${escaped(name)}" height="48" style="max-width:100%;height:48px" />`,
  );

const coloursFor = (brand: Brand): Readonly<Record<string, string>> => {
  const { ground, surface, brand: fill, brandInk, brandText } = paletteOf(brand, 'light');
  const dark = paletteOf(brand, 'dark');
  return {
    ground,
    card: surface,
    fill,
    onFill: brandInk,
    accent: brandText,
    darkGround: dark.ground,
    darkCard: dark.surface,
    darkAccent: dark.brandText,
  };
};

/** Fills in one pass, so that filled-in text is not searched for gaps. */
const fill = (html: string, words: Readonly<Record<string, string | Markup>>): string =>
  html.replaceAll(/\[\[(\w+)\]\]/g, (_, name: string) => {
    const value = words[name] ?? '';
    return typeof value === 'string' ? escaped(value) : value.html;
  });
