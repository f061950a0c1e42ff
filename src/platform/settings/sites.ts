import { whole, type SettingsReader } from './reader.js';
import { credential, Problem } from './values.js';
import { apiAddress } from './webAddresses.js';

/** Vercel builds only repositories on GitHub, and the embedded hosting only embedded ones. */
export interface SiteSettings {
  readonly github: GitHubAccount;
  readonly vercel: VercelAccount;
}

export interface GitHubAccount {
  readonly token: string;
  /** The user or organisation that owns the websites' repositories. */
  readonly owner: string;
  /** The template repository. */
  readonly template: { readonly owner: string; readonly name: string };
  /** Without a trailing slash. */
  readonly apiUrl: string;
}

export interface VercelAccount {
  readonly token: string;
  /** Absent: the account that the token belongs to. */
  readonly teamId: string | undefined;
  /** Without a trailing slash. */
  readonly apiUrl: string;
}

export const readSites = ({ read, needFor }: SettingsReader): SiteSettings | undefined => {
  const github = whole({
    token: read('GITHUB_TOKEN', credential, undefined),
    owner: read('GITHUB_OWNER', gitHubOwner, undefined),
    template: read('GITHUB_TEMPLATE', gitHubTemplate, undefined),
    // Build machines set it for other programs: alone it selects nothing.
    apiUrl: read('GITHUB_API_URL', apiAddress, 'https://api.github.com'),
  });
  const token = read('VERCEL_TOKEN', credential, undefined);
  const teamId = read('VERCEL_TEAM_ID', credential, undefined);
  const apiUrl = read('VERCEL_API_URL', apiAddress, 'https://api.vercel.com');
  const gitHubNames = ['GITHUB_TOKEN', 'GITHUB_OWNER', 'GITHUB_TEMPLATE'];
  for (const name of gitHubNames) needFor(name, ...gitHubNames, 'VERCEL_TOKEN');
  needFor('VERCEL_TOKEN', ...gitHubNames, 'VERCEL_TEAM_ID', 'VERCEL_API_URL');
  return github === undefined || token === undefined ? undefined : { github, vercel: { token, teamId, apiUrl } };
};

const sourceHostAccount = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?$/;

const gitHubOwner = (text: string): string | Problem =>
  sourceHostAccount.test(text) ? text : new Problem('must be the name of a user or an organisation');

const gitHubTemplate = (text: string): { readonly owner: string; readonly name: string } | Problem => {
  const [owner = '', name = '', ...more] = text.split('/');
  const isName = /^[\w.-]{1,100}$/.test(name) && name !== '.' && name !== '..';
  return sourceHostAccount.test(owner) && isName && more.length === 0
    ? { owner, name }
    : new Problem('must be owner/name of the template repository');
};
