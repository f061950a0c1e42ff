import { Refusal } from './command.js';
import { openProfiles, unknownProfile, type Profile, type Profiles } from './profiles.js';

/** Which service is called, and as whom. */
export interface Connection {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** Whose token it is; absent: the environment's. */
  readonly profile?: Profile;
}

/** What the command line says of it. */
export interface Chosen {
  readonly profile?: string;
  readonly url?: string;
}

/** Where `npm start` opens a service. */
export const localService = 'http://127.0.0.1:3000';

/** What is set to nothing is not set. */
export const variable = (environment: NodeJS.ProcessEnv, name: string): string | undefined => {
  const value = environment[name]?.trim() ?? '';
  return value === '' ? undefined : value;
};

/**
 * An address as profiles hold it.
 * @throws Refusal when it is none
 */
export const serviceAddress = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new Refusal(`"${text}" is not the address of a service. An address is like https://doorstep.example.com.`);
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
};

/** The address that was asked for, by an option or by DOORSTEP_URL. */
export const chosenAddress = ({ url }: Chosen, environment: NodeJS.ProcessEnv): string | undefined => {
  const text = url ?? variable(environment, 'DOORSTEP_URL');
  return text === undefined ? undefined : serviceAddress(text);
};

/**
 * `--profile`; else `DOORSTEP_TOKEN` at the address that was asked for, or that the profile has; else
 * `DOORSTEP_PROFILE`, or the profile in use. A profile's token is never sent to another address than
 * the profile's.
 * @throws Refusal when nobody is signed in, or nobody there
 */
export const connectionFrom = async (chosen: Chosen, environment: NodeJS.ProcessEnv): Promise<Connection> => {
  const address = chosenAddress(chosen, environment);
  const token = variable(environment, 'DOORSTEP_TOKEN');
  const profiles = openProfiles(environment);
  if (chosen.profile === undefined && token !== undefined)
    return { url: address ?? (await addressOfProfile(profiles, environment)) ?? localService, token };
  const profile = await chooseProfile(profiles, chosen.profile ?? variable(environment, 'DOORSTEP_PROFILE'), address);
  return { url: profile.url, token: await profiles.tokenOf(profile), profile };
};

/** Of DOORSTEP_PROFILE, or of the profile in use. @throws Refusal when there is no profile of that name */
const addressOfProfile = async (profiles: Profiles, environment: NodeJS.ProcessEnv): Promise<string | undefined> => {
  const name = variable(environment, 'DOORSTEP_PROFILE');
  const profile = name === undefined ? await profiles.current() : await chooseProfile(profiles, name);
  return profile?.url;
};

/**
 * The profile that is meant.
 * @param name - the one that was named
 * @param address - the service that was named
 * @throws Refusal
 */
export const chooseProfile = async (profiles: Profiles, name?: string, address?: string): Promise<Profile> => {
  if (name !== undefined) {
    const profile = await profiles.find(name);
    if (profile === null) throw unknownProfile(name, await profiles.list());
    if (address !== undefined && address !== profile.url) {
      throw new Refusal(`Profile ${name} is signed in to ${profile.url}, not to ${address}. Leave one of the two out.`);
    }
    return profile;
  }
  const current = await profiles.current();
  if (address === undefined) {
    if (current !== null) return current;
    if ((await profiles.list()).length > 0) throw new Refusal('No profile is in use. Run "doorstep profiles use <name>".');
    throw new Refusal('You are not signed in. Run "doorstep login", or set DOORSTEP_URL and DOORSTEP_TOKEN.');
  }
  if (current?.url === address) return current;
  const [there, ...others] = (await profiles.list()).filter(({ url }) => url === address);
  if (there === undefined) {
    throw new Refusal(`You are not signed in to ${address}. Run "doorstep login --url ${address}", or set DOORSTEP_TOKEN.`);
  }
  if (others.length === 0) return there;
  const names = [there, ...others].map((profile) => profile.name).join(', ');
  throw new Refusal(`Several profiles are signed in to ${address}: ${names}. Say which with --profile.`);
};
