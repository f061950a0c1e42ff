import { DoorstepError } from '@doorstep/sdk';
import { Refusal } from '../command.js';
import { chooseProfile, chosenAddress, variable } from '../connection.js';
import type { Context } from '../context.js';
import { openProfiles } from '../profiles.js';
import { revoke } from './login.js';

/** Revokes the token of a profile, and forgets both. */
export const logout = async (
  { output, environment, globals }: Context,
  { keepToken, force }: { readonly keepToken: boolean; readonly force: boolean },
): Promise<void> => {
  const profiles = openProfiles(environment);
  const named = globals.profile ?? variable(environment, 'DOORSTEP_PROFILE');
  const profile = await chooseProfile(profiles, named, chosenAddress(globals, environment));
  const { name, url, tokenPrefix } = profile;
  let isValid = keepToken;
  if (!keepToken) {
    try {
      await revoke(profile, await profiles.tokenOf(profile));
    } catch (error) {
      if (!force) throw explain(error, url, tokenPrefix);
      isValid = true;
    }
  }
  await profiles.remove(profile, force);
  output.done(`Signed out of ${url}. Profile ${name} is gone.`);
  output.note(
    isValid
      ? `The token ${tokenPrefix}… is still valid. It can be revoked in the portal.`
      : `The token ${tokenPrefix}… was revoked.`,
  );
  if (variable(environment, 'DOORSTEP_TOKEN') !== undefined) output.note('DOORSTEP_TOKEN is set, and is used as before.');
};

/** Why the profile is still there, and what can be done. */
const explain = (error: unknown, url: string, tokenPrefix: string): unknown => {
  if (!(error instanceof DoorstepError)) return error;
  return new Refusal(
    `The token ${tokenPrefix}… could not be revoked at ${url}, so you are still signed in: ${error.message}\nTry again later, or run "doorstep logout --force" to forget it here. It then stays valid until it is revoked in the portal.`,
  );
};
