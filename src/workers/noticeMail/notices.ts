import { addressChangeKey, viewAddressChange } from '../../commands/client/addressChange.handlers.js';
import type { Engine } from '../../engine.js';
import { accessFold, linkRole } from '../../events/access/access.state.js';
import type { AccessKey } from '../../events/access/access.stream.js';
import { recipientOf } from '../../events/client/client.directory.js';
import { clientFold } from '../../events/client/client.state.js';
import type { MailContent, MailRow } from '../../platform/mail/composeMail.js';
import { dayIn, fill, textsOf, type Language } from '../../platform/texts/texts.js';
import { clientProjection } from '../../projections/client/client.projection.js';
import { readClient } from '../../projections/client/client.queries.js';
import type { Reader } from '../../projections/reader.js';
import { websiteProjection } from '../../projections/website/website.projection.js';

/** A notice that is still to be given. */
export interface Notice extends MailContent {
  readonly to: string;
  readonly language: Language;
  /** Absent for an admin, whom settings name. */
  readonly client?: {
    readonly id: string;
    /** The address as events hold it. */
    readonly person: string;
  };
}

/** What the mails say that tell people of an event, as of now; `null` when one is no longer to be given. */
export interface Notices {
  /** To the client whom the link was given. */
  linkGiven(link: AccessKey): Promise<Notice | null>;
  /** To the new address of a client, which is to be confirmed. */
  addressToConfirm(change: {
    readonly clientId: string;
    readonly changeId: string;
    readonly email: string;
  }): Promise<Notice | null>;
  /** To the address that a client had before. */
  addressChanged(change: { readonly clientId: string; readonly formerEmail: string }): Promise<Notice | null>;
  /** To an admin. */
  renewalRequested(invitation: AccessKey & { readonly invitationId: string }, to: string): Promise<Notice | null>;
}

export const createNotices = (parts: {
  readonly engine: Engine;
  readonly reader: Reader;
  /** Of the agency. */
  readonly brand: string;
  readonly languageOf: (address: string) => Promise<Language>;
  readonly baseUrl: () => string;
}): Notices => {
  const { engine, reader, brand, languageOf, baseUrl } = parts;
  const { personal } = engine;

  const websiteName = async (websiteId: string): Promise<string | null> =>
    (await reader.read(websiteProjection, websiteId)).document?.name ?? null;

  return {
    linkGiven: async ({ websiteId, clientId }) => {
      const { state } = await engine.state(accessFold, { websiteId, clientId });
      const [website, found] = [await websiteName(websiteId), await readClient(reader, clientId)];
      const { document } = await reader.read(clientProjection, clientId);
      const role = linkRole(state);
      if (website === null || found === null || document === null || role === undefined) return null;
      const to = found.client.email;
      const language = await languageOf(to);
      const { linkedMail: words } = textsOf(language);
      return {
        to,
        language,
        client: { id: clientId, person: document.email },
        heading: fill(words.subject, { website }),
        rows: [
          { row: 'text', words: fill(role === 'editor' ? words.editor : words.viewer, { brand, website }) },
          ...button(language, words.action, `${baseUrl()}/app/`),
        ],
      };
    },

    addressToConfirm: async ({ clientId, changeId, email: person }) => {
      const change = await viewAddressChange(engine, changeId);
      if (change.status !== 'pending') return null;
      const key = addressChangeKey(engine, changeId);
      const to = change.address;
      const language = await languageOf(to);
      const texts = textsOf(language);
      const { newAddressMail: words } = texts;
      return {
        to,
        language,
        client: { id: clientId, person },
        heading: words.subject,
        rows: [
          { row: 'text', words: fill(words.text, { brand }) },
          ...button(language, words.action, `${baseUrl()}/app/address-changes/${changeId}?key=${key}`),
          { row: 'quiet', words: fill(words.until, { day: dayIn(texts, change.expiresAt) }) },
        ],
      };
    },

    addressChanged: async ({ clientId, formerEmail: person }) => {
      const { state } = await engine.state(clientFold, { clientId });
      const to = await personal.decrypt(person);
      if (state.stage !== 'registered' || to === null) return null;
      const language = await languageOf(to);
      const { formerAddressMail: words } = textsOf(language);
      return {
        to,
        language,
        client: { id: clientId, person },
        heading: fill(words.subject, { brand }),
        rows: [
          { row: 'text', words: words.text },
          { row: 'text', words: fill(words.unexpected, { brand }) },
        ],
      };
    },

    renewalRequested: async ({ websiteId, clientId, invitationId }, to) => {
      const { state } = await engine.state(accessFold, { websiteId, clientId });
      const invitation = state.invitations.get(invitationId);
      const website = await websiteName(websiteId);
      const address =
        invitation === undefined ? null : await personal.decrypt(await recipientOf(engine, clientId, invitation.email));
      if (invitation?.stage !== 'pending' || website === null || address === null) return null;
      const language = await languageOf(to);
      const { renewalMail: words } = textsOf(language);
      const isTransfer = invitation.kind === 'ownership_transfer';
      const path = `/websites/${websiteId}`;
      const call = isTransfer ? `POST ${path}/transfers` : `POST ${path}/client-invitations/${invitationId}/resend`;
      const page = `${baseUrl()}/app${path}/${isTransfer ? 'transfer' : 'people'}`;
      return {
        to,
        language,
        heading: fill(words.subject, { website }),
        rows: [
          // The page says who it is. An erasure would not find their address in a mail to somebody else.
          { row: 'text', words: fill(words.text, { website }) },
          ...button(language, fill(isTransfer ? words.transferAction : words.resendAction, { website }), page),
          { row: 'quiet', words: fill(isTransfer ? words.transfer : words.resend, { call }) },
        ],
      };
    },
  };
};

const button = (language: Language, words: string, link: string): readonly MailRow[] => [
  { row: 'button', words, link },
  { row: 'address', words: textsOf(language).mail.fallback, link },
];
