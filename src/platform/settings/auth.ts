import type { SettingsReader } from './reader.js';
import { anyText, credential, emailAddress, listOf, Problem } from './values.js';
import { secureAddress, secureOnly } from './webAddresses.js';

export interface AuthSettings {
  /** The OpenID Connect issuer to trust; absent: embedded sign-in. */
  readonly issuer: ExternalIssuer | undefined;
  /** Lower-case addresses of those who are admins under embedded sign-in, and to whom notices for admins are mailed. */
  readonly adminEmails: readonly string[];
}

export interface ExternalIssuer {
  /** Exactly as the `iss` claim carries it. */
  readonly url: string;
  readonly audience: string;
  /** As which the pages of the service are registered there: a public client with PKCE. */
  readonly clientId?: string;
  /** The claim that holds the role; each further entry reaches into the object before it. */
  readonly roleClaim: readonly string[];
  readonly subjectCheck: SubjectCheck;
}

/**
 * How to check that a subject still exists. `userinfo` checks only where the issuer offers that
 * endpoint.
 */
export type SubjectCheck = { readonly kind: 'userinfo' } | ({ readonly kind: 'scim' } & ScimService) | { readonly kind: 'none' };

export interface ScimService {
  readonly url: string;
  /** Sent as a bearer token; absent: none is. */
  readonly token?: string;
}

/** Mails to it reach nobody. */
export const defaultAdminEmails: readonly string[] = ['admin@doorstep.local'];

export const readAuth = (reader: SettingsReader): AuthSettings => ({
  issuer: readIssuer(reader),
  adminEmails: reader.read('ADMIN_EMAILS', listOf(emailAddress), defaultAdminEmails),
});

const readIssuer = (reader: SettingsReader): ExternalIssuer | undefined => {
  const { read, needFor } = reader;
  const url = read('AUTH_ISSUER', issuerAddress, undefined);
  const audience = read('AUTH_AUDIENCE', anyText, undefined);
  const clientId = read('AUTH_CLIENT_ID', anyText, undefined);
  const roleClaim = read('AUTH_ROLE_CLAIM', claimPath, ['role']);
  const subjectCheck = readSubjectCheck(reader);
  const details = ['AUTH_AUDIENCE', 'AUTH_CLIENT_ID', 'AUTH_ROLE_CLAIM', 'AUTH_SUBJECT_CHECK', 'AUTH_SCIM_TOKEN'];
  needFor('AUTH_ISSUER', ...details);
  needFor('AUTH_AUDIENCE', 'AUTH_ISSUER');
  if (url === undefined || audience === undefined) return undefined;
  return { url, audience, ...(clientId !== undefined && { clientId }), roleClaim, subjectCheck };
};

const readSubjectCheck = ({ read, given, refuse }: SettingsReader): SubjectCheck => {
  const check = read('AUTH_SUBJECT_CHECK', subjectCheckOf, { kind: 'userinfo' } as const);
  const token = read('AUTH_SCIM_TOKEN', credential, undefined);
  if (given('AUTH_SCIM_TOKEN') !== undefined && !given('AUTH_SUBJECT_CHECK')?.startsWith('scim:')) {
    refuse('AUTH_SUBJECT_CHECK', 'must be scim: followed by an address because AUTH_SCIM_TOKEN is set');
  }
  return check.kind === 'scim' && token !== undefined ? { ...check, token } : check;
};

const issuerAddress = (text: string): string | Problem => (secureAddress(text) ? text : new Problem(`must be ${secureOnly}`));

const claimPath = (text: string): readonly string[] | Problem => {
  const path = text.split('.');
  return path.includes('') ? new Problem('must be the name of a claim; a dot reaches into an object, as in realm.role') : path;
};

const subjectCheckOf = (text: string): SubjectCheck | Problem => {
  if (text === 'userinfo' || text === 'none') return { kind: text };
  const url = text.startsWith('scim:') ? secureAddress(text.slice('scim:'.length)) : undefined;
  return url ? { kind: 'scim', url: url.href } : new Problem(`must be userinfo, none or scim: followed by ${secureOnly}`);
};
