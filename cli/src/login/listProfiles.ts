import { variable } from '../connection.js';
import type { Context } from '../context.js';
import { openProfiles } from '../profiles.js';

/** Every profile, with where its token is; the one in use is marked. */
export const listProfiles = async ({ output, environment }: Context): Promise<void> => {
  const profiles = openProfiles(environment);
  const named = variable(environment, 'DOORSTEP_PROFILE');
  const current = named ?? (await profiles.current())?.name;
  const rows = (await profiles.list()).map((profile) => ({
    ...profile,
    current: profile.name === current,
    place: profiles.placeOf(profile),
  }));
  await output.list(
    rows,
    [
      { heading: '', value: (row) => (row.current ? '*' : ''), style: (shown, style) => style.green(shown) },
      { heading: 'name', value: ({ name }) => name },
      { heading: 'service', value: ({ url }) => url },
      { heading: 'address', value: ({ email, subject }) => email ?? subject },
      { heading: 'role', value: ({ role }) => role },
      {
        heading: 'expires',
        value: ({ expiresAt }) => expiresAt ?? 'never',
        shown: ({ expiresAt }) => expiresAt?.slice(0, 10) ?? 'never',
      },
      { heading: 'kept in', value: ({ place }) => place },
    ],
    'No profiles. Run "doorstep login".',
  );
};
