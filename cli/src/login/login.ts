import { hostname } from 'node:os';
import { Doorstep, DoorstepError } from '@doorstep/sdk';
import type { TokenEndpointResponse } from 'openid-client';
import { openBrowser } from '../browser.js';
import { createClient } from '../client.js';
import { defined, Refusal } from '../command.js';
import { chosenAddress, localService, serviceAddress, variable } from '../connection.js';
import type { Context } from '../context.js';
import { checkProfileName, openProfiles, type Profile, type Profiles } from '../profiles.js';
import { version } from '../version.js';
import { signInByBrowser } from './browser.js';
import { signInByDevice } from './device.js';
import { discover, type SignInPlace } from './discovery.js';
import { expiryFrom, usualExpiry } from './expiry.js';
import { defaultClientId, endSignIn, findIssuer } from './openId.js';

export interface LoginOptions {
  readonly device: boolean;
  readonly withToken: boolean;
  readonly name?: string | undefined;
  readonly expires?: string | undefined;
  readonly clientId?: string | undefined;
}

const maxNameLength = 100;

/** A token that works, and what is known of it. */
interface Held {
  readonly url: string;
  readonly token: string;
  readonly minted: boolean;
}

/** Signs in, and keeps a personal access token of this machine's own. */
export const login = async (context: Context, options: LoginOptions): Promise<void> => {
  const { output, environment, globals } = context;
  if (globals.profile !== undefined) checkProfileName(globals.profile);
  const expiresAt = expiryFrom(options.expires ?? usualExpiry, Date.now());
  const profiles = openProfiles(environment);
  const address = await askedAddress(context, profiles);
  warnOfPlainHttp(context, address);

  const clientId = options.clientId ?? (await profiles.list()).find(({ url }) => url === address)?.clientId;
  const held = options.withToken
    ? await takeToken(context, address)
    : await mintToken(context, await discover(address), options, clientId, expiresAt);

  let kept: Kept;
  try {
    kept = await keep(context, profiles, held, clientId);
  } catch (error) {
    // Nobody has it any more, and nobody would miss it.
    if (held.minted) await takeBack(context, held);
    throw error;
  }
  const { profile, replaced, replacedToken } = kept;
  const { name, url, email, subject, role } = profile;
  output.done(`Signed in to ${url} as ${email ?? subject} (${role}). Profile: ${name}.`);
  const ends = profile.expiresAt === undefined ? 'does not expire' : `expires on ${dayOf(profile.expiresAt)}`;
  output.note(`The token ${profile.tokenPrefix}… ${ends}. It is kept in ${profiles.placeOf(profile)}.`);
  if (replaced !== null && replacedToken !== null && replacedToken !== held.token) {
    await revokeReplaced(context, replaced, replacedToken);
  }
  if (variable(environment, 'DOORSTEP_TOKEN') !== undefined) {
    output.note('DOORSTEP_TOKEN is set, and is used instead of this profile until you unset it.');
  }
};

interface Kept {
  readonly profile: Profile;
  /** The one of that name before. */
  readonly replaced: Profile | null;
  readonly replacedToken: string | null;
}

/** Keeps a token as the profile that it is for, with what the service says of it. */
const keep = async (
  { environment, globals }: Context,
  profiles: Profiles,
  { url, token, minted }: Held,
  clientId: string | undefined,
): Promise<Kept> => {
  const doorstep = createClient(url, token);
  const me = await doorstep.me.get();
  const { subject, email, role } = me;
  const credential = credentialOf(me);
  const name = globals.profile ?? (await nameFor(profiles, url, variable(environment, 'DOORSTEP_PROFILE')));
  const replaced = await profiles.find(name);
  const replacedToken = replaced === null ? null : await tokenIfThere(profiles, replaced);
  const profile = await profiles.save(
    {
      name,
      url,
      subject,
      role,
      minted,
      tokenPrefix: token.slice(0, prefixLength),
      ...(typeof email === 'string' && { email }),
      ...defined({ tokenId: credential.id, tokenName: credential.name, expiresAt: credential.expiresAt }),
      ...(clientId !== undefined && clientId !== defaultClientId && { clientId }),
    },
    token,
  );
  return { profile, replaced, replacedToken };
};

/** Revokes a token that could not be kept. What fails here is reported beside the reason for that. */
const takeBack = async ({ output }: Context, { url, token }: Held): Promise<void> => {
  const shown = `The token ${token.slice(0, prefixLength)}… could not be kept`;
  try {
    await revoke({ url }, token);
    output.note(`${shown}, so it was revoked again.`);
  } catch (error) {
    output.note(`${shown}, nor revoked (${(error as Error).message}). Revoke it in the portal.`);
  }
};

/** Of a token, shown to recognise it (api.md, section 2). */
const prefixLength = 12;

export const dayOf = (time: string): string =>
  new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** Option, environment, the profile's, or asked for. */
const askedAddress = async (context: Context, profiles: Profiles): Promise<string> => {
  const { globals, environment, canAsk } = context;
  const chosen = chosenAddress(globals, environment);
  if (chosen !== undefined) return chosen;
  const name = globals.profile ?? variable(environment, 'DOORSTEP_PROFILE');
  const known = name === undefined ? await profiles.current() : await profiles.find(name);
  if (known !== null) return known.url;
  if (!canAsk) throw new Refusal('Which service? Say it with --url, such as --url https://doorstep.example.com.');
  const answer = (await context.ask(`Address of the service [${localService}]: `, 'say it with --url.')).trim();
  return answer === '' ? localService : serviceAddress(answer.includes('://') ? answer : `https://${answer}`);
};

const warnOfPlainHttp = ({ output }: Context, address: string): void => {
  const { protocol, hostname: host } = new URL(address);
  if (protocol === 'https:' || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)) return;
  output.note(`Caution: ${address} is not encrypted. Others on the network can read the token.`);
};

/**
 * The name for a service without a profile of its own: no profile of another service is replaced
 * unasked.
 */
const nameFor = async (profiles: Profiles, url: string, wanted: string | undefined): Promise<string> => {
  if (wanted !== undefined) return checkProfileName(wanted);
  const current = await profiles.current();
  if (current?.url === url) return current.name;
  const known = await profiles.list();
  const there = known.find((profile) => profile.url === url);
  if (there !== undefined) return there.name;
  const taken = new Set(known.map(({ name }) => name));
  if (!taken.has('default')) return 'default';
  const { host } = new URL(url);
  const base = host.replaceAll(/[^\w.-]/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? base : `${base}-${String(count)}`;
    if (!taken.has(name)) return name;
  }
};

/** A token that somebody was given, from standard input: a command line is seen by others. */
const takeToken = async (context: Context, url: string): Promise<Held> => {
  if (process.stdin.isTTY) {
    throw new Refusal('--with-token reads the token from standard input: doorstep login --with-token < token.txt');
  }
  const token = (await context.stdin()).trim();
  if (token === '') throw new Refusal('There is no token on standard input.');
  if (/\s/.test(token)) throw new Refusal('Standard input holds more than a token.');
  return { url, token, minted: false };
};

/** Signs in at the issuer, and exchanges what that gives for a personal access token. */
const mintToken = async (
  context: Context,
  place: SignInPlace,
  options: LoginOptions,
  clientId = defaultClientId,
  expiresAt?: string,
): Promise<Held> => {
  const issuer = await findIssuer(place, clientId);
  const tokens = await signIn(context, issuer, options.device);
  const { url } = place;
  const doorstep = new Doorstep({
    baseUrl: url,
    token: () => tokens.access_token,
    userAgent: `doorstep-cli/${version}`,
  });
  const name = (options.name ?? `doorstep CLI on ${hostname()}`).slice(0, maxNameLength);
  const { token } = await doorstep.apiKeys.create({ name, ...(expiresAt !== undefined && { expiresAt }) });
  const problem = await endSignIn(issuer, tokens.refresh_token);
  if (problem !== null) context.output.note(`The sign-in at the issuer ends by itself; it could not be ended now: ${problem}`);
  return { url, token, minted: true };
};

/** By the browser of this machine where there seems to be one, else by a code. */
const signIn = async (
  context: Context,
  issuer: Awaited<ReturnType<typeof findIssuer>>,
  device: boolean,
): Promise<TokenEndpointResponse> => {
  const { output, environment, interruption } = context;
  if (device || !hasBrowser(context)) {
    return signInByDevice(
      issuer,
      (lines) => {
        for (const line of lines) output.note(line);
      },
      interruption.signal,
    );
  }
  const open = async (address: string): Promise<void> => {
    output.note(`Sign in in your browser. If none opens, go to:\n${address}`);
    try {
      await openBrowser(address, environment);
    } catch {
      output.note('No browser could be started: copy the address, or use --device.');
    }
  };
  return signInByBrowser(issuer, open, interruption.signal);
};

/** A browser opens for a person at a terminal, on a machine with a screen of theirs. */
const hasBrowser = ({ environment, canAsk }: Context, platform = process.platform): boolean => {
  if (!canAsk) return false;
  if (variable(environment, 'BROWSER') !== undefined) return true;
  if (variable(environment, 'SSH_CONNECTION') !== undefined) return false;
  if (platform === 'darwin' || platform === 'win32') return true;
  return variable(environment, 'DISPLAY') !== undefined || variable(environment, 'WAYLAND_DISPLAY') !== undefined;
};

type Credential = Awaited<ReturnType<Doorstep['me']['get']>>['credential'];

/** What the service says of the token of a request; an older version of it says nothing. */
export const credentialOf = ({ credential }: { readonly credential?: Credential }): Partial<Credential> => credential ?? {};

/** Null where the keyring does not have it, or does not give it. */
const tokenIfThere = async (profiles: Profiles, profile: Profile): Promise<string | null> => {
  try {
    return await profiles.tokenOf(profile);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

/** The new token holds already, so what fails here is reported and ends nothing. */
const revokeReplaced = async ({ output }: Context, replaced: Profile, token: string): Promise<void> => {
  if (!replaced.minted) {
    output.note(`The former token ${replaced.tokenPrefix}… was not made by this program, so it stays valid.`);
    return;
  }
  try {
    await revoke(replaced, token);
    output.note(`The former token ${replaced.tokenPrefix}… was revoked.`);
  } catch (error) {
    output.note(
      `The former token ${replaced.tokenPrefix}… could not be revoked (${(error as Error).message}). Revoke it in the portal, or with "doorstep keys revoke".`,
    );
  }
};

/**
 * Revokes a profile's token by itself; one that does not work any more is done with.
 * @throws DoorstepError, also where the service does not say which token it is
 */
export const revoke = async (profile: Pick<Profile, 'url' | 'tokenId'>, token: string): Promise<void> => {
  const doorstep = createClient(profile.url, token);
  try {
    const id = profile.tokenId ?? credentialOf(await doorstep.me.get()).id;
    if (id === undefined) throw new DoorstepError('the service does not say which token this is');
    await doorstep.apiKeys.revoke(id);
  } catch (error) {
    if (!(error instanceof DoorstepError && error.status === 401)) throw error;
  }
};
