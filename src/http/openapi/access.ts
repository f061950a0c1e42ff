import type { AccessRule, Route } from '../route.js';

/** Who may call, in words, and as a list that programs read. */
const rules: Readonly<Record<AccessRule, { readonly words: string; readonly callers: readonly string[] }>> = {
  public: { words: 'Anybody; no credential is asked for.', callers: ['anybody'] },
  signedIn: { words: 'Everybody who is signed in, for themselves.', callers: ['signed-in'] },
  admin: { words: 'Admins.', callers: ['admin'] },
  members: {
    words: "Admins, the website's owner, its linked editors and viewers.",
    callers: ['admin', 'owner', 'editor', 'viewer'],
  },
  adminOrOwner: { words: "Admins and the website's owner.", callers: ['admin', 'owner'] },
  editors: {
    words: "Admins, the website's owner and its linked editors; a viewer gets 401.",
    callers: ['admin', 'owner', 'editor'],
  },
  owner: { words: "The website's owner alone.", callers: ['owner'] },
  handover: {
    words: "Admins, the website's owner, and the person to whom the transfer is offered.",
    callers: ['admin', 'owner', 'invited'],
  },
};

/** The sentence on who may call a route; the website's feature belongs to it. */
export const accessWords = ({ access, feature }: Route): string =>
  `**Who may call:** ${rules[access].words}${feature === undefined ? '' : ` The website must have the \`${feature}\` feature.`}`;

export const accessExtension = ({ access, feature }: Route): Readonly<Record<string, unknown>> => ({
  rule: access,
  callers: rules[access].callers,
  ...(feature !== undefined && { feature }),
});
