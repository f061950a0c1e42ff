import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal, UsageError } from './command.js';
import { configFolder } from './configFolder.js';
import { createKeyring, type Keyring } from './keyring.js';
import { readPrivateFile, writePrivateFile } from './privateFile.js';

/** Who is signed in where, under a name. It holds no token. */
export interface Profile {
  readonly name: string;
  /** Of the service, without a trailing slash. */
  readonly url: string;
  readonly subject: string;
  readonly email?: string;
  readonly role: 'admin' | 'client';
  /** Of the token; absent when the service did not list it. */
  readonly tokenId?: string;
  /** The token's first 12 characters. */
  readonly tokenPrefix: string;
  readonly tokenName?: string;
  /** Absent: it does not expire. */
  readonly expiresAt?: string;
  /** Whether `login` minted it, rather than took it from somebody. */
  readonly minted: boolean;
  readonly storedIn: 'keyring' | 'file';
  /** The client at an issuer elsewhere, where that is not `doorstep-cli`. */
  readonly clientId?: string;
}

export interface Profiles {
  /** By name. */
  list(): Promise<readonly Profile[]>;
  find(name: string): Promise<Profile | null>;
  /** The one that is used where none is named: the chosen one, or the only one. */
  current(): Promise<Profile | null>;
  /** @throws Refusal when there is none of that name */
  use(name: string): Promise<Profile>;
  /** Keeps a profile with its token, in place of the one of that name. */
  save(profile: Omit<Profile, 'storedIn'>, token: string): Promise<Profile>;
  /** @throws Refusal when it cannot be read */
  tokenOf(profile: Profile): Promise<string>;
  /**
   * Removes a profile with its token.
   * @param force - also when the keyring does not let go of the token
   * @throws Refusal
   */
  remove(profile: Profile, force?: boolean): Promise<void>;
  /** Where the token of a profile is, in words. */
  placeOf(profile: Profile): string;
}

/** A profile's file; it holds the token where no keyring does. */
type StoredProfile = Profile & { readonly token?: string };

const fileEnd = '.json';

/** Also the name of a file. */
const isProfileName = (name: string): boolean => /^[A-Za-z0-9][\w.-]{0,63}$/.test(name);

/** @throws UsageError */
export const checkProfileName = (name: string): string => {
  if (!isProfileName(name)) {
    throw new UsageError(
      `"${name}" cannot be the name of a profile: use up to 64 letters, digits, dots, hyphens and underscores`,
    );
  }
  return name;
};

/** In the keyring: a new token of a profile is beside the former one until the profile names it. */
const accountOf = ({ name, url, tokenId, tokenPrefix }: Profile): string => `${name} at ${url} (${tokenId ?? tokenPrefix})`;

/** The profiles of this person on this machine. */
export const openProfiles = (
  environment: NodeJS.ProcessEnv,
  keyring: Keyring = createKeyring(environment),
  folder = configFolder(environment),
): Profiles => {
  const profilesFolder = join(folder, 'profiles');
  const chosenFile = join(folder, 'config.json');
  const fileOf = (name: string): string => join(profilesFolder, name + fileEnd);

  const read = async (name: string): Promise<StoredProfile | null> => {
    if (!isProfileName(name)) return null;
    const text = await readPrivateFile(fileOf(name));
    if (text === null) return null;
    return { ...(parse(text, fileOf(name)) as Omit<StoredProfile, 'name'>), name };
  };

  const names = async (): Promise<readonly string[]> => {
    try {
      const files = await readdir(profilesFolder);
      return files.filter((file) => file.endsWith(fileEnd)).map((file) => file.slice(0, -fileEnd.length));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  };

  const list = async (): Promise<readonly Profile[]> => {
    const found = await Promise.all([...(await names())].sort().map(read));
    return found.filter((profile) => profile !== null).map(withoutToken);
  };

  const find = async (name: string): Promise<Profile | null> => {
    const found = await read(name);
    return found === null ? null : withoutToken(found);
  };

  const choose = (current: string): Promise<void> => writePrivateFile(chosenFile, `${JSON.stringify({ current }, null, 2)}\n`);

  const removeSecret = async (profile: Profile): Promise<void> => {
    if (profile.storedIn === 'keyring') await keyring.delete(accountOf(profile));
  };

  return {
    list,
    find,
    current: async () => {
      const text = await readPrivateFile(chosenFile);
      const { current } = (text === null ? {} : parse(text, chosenFile)) as { current?: string };
      const chosen = current === undefined ? null : await find(current);
      if (chosen !== null) return chosen;
      const [first, ...others] = await list();
      return first === undefined || others.length > 0 ? null : first;
    },
    use: async (name) => {
      const profile = await find(name);
      if (profile === null) throw unknownProfile(name, await list());
      await choose(name);
      return profile;
    },
    save: async (given, token) => {
      checkProfileName(given.name);
      const before = await find(given.name);
      const storedIn = (await keyring.answers()) ? 'keyring' : 'file';
      const profile: Profile = { ...given, storedIn };
      if (storedIn === 'keyring') await keyring.write(accountOf(profile), token);
      const { name, ...kept } = profile;
      await writePrivateFile(fileOf(name), `${JSON.stringify({ ...kept, ...(storedIn === 'file' && { token }) }, null, 2)}\n`);
      await choose(name);
      if (before !== null && accountOf(before) !== accountOf(profile)) await removeSecret(before);
      return profile;
    },
    tokenOf: async (profile) => {
      const token = profile.storedIn === 'file' ? (await read(profile.name))?.token : await keyring.read(accountOf(profile));
      if (token === undefined || token === null) {
        throw new Refusal(`The token of profile ${profile.name} is gone. Run "doorstep login --profile ${profile.name}".`);
      }
      return token;
    },
    remove: async (profile, force = false) => {
      // The file goes last: a profile whose token could not be removed can be removed again.
      try {
        await removeSecret(profile);
      } catch (error) {
        if (!force || !(error instanceof Refusal)) throw error;
      }
      await rm(fileOf(profile.name), { force: true });
    },
    placeOf: ({ name, storedIn }) => (storedIn === 'keyring' ? 'the keyring' : fileOf(name)),
  };
};

const withoutToken = ({ token: _, ...profile }: StoredProfile): Profile => profile;

/** @throws Refusal that names the file. The parser's words could repeat a token. */
const parse = (text: string, file: string): object => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Refusal(`${file} is not a JSON object. Correct it, or remove it and sign in again.`);
};

/** What there is instead of a profile that is not there. */
export const unknownProfile = (name: string, profiles: readonly Profile[]): Refusal => {
  const known = profiles.length === 0 ? '' : ` Profiles: ${profiles.map((profile) => profile.name).join(', ')}.`;
  return new Refusal(`There is no profile ${name}.${known} To sign in under that name: doorstep login --profile ${name}`);
};
