import type { Context } from '../context.js';
import { openProfiles } from '../profiles.js';
import { dayOf } from './login.js';

/** Who calls, by which token. The token itself is not shown. */
export const whoami = async (context: Context): Promise<void> => {
  const { output, environment } = context;
  const { url, token, profile } = await context.connection();
  const client = await context.doorstep();
  const { subject, email, role, credential } = await client.me.get();
  const { id, name, expiresAt } = credential;
  const storedIn = profile?.storedIn ?? 'environment';
  const prefix = token.slice(0, 12);
  await output.resource(
    {
      subject,
      email: email ?? null,
      role,
      url,
      profile: profile?.name ?? null,
      token: { id: id ?? null, name: name ?? null, prefix, expiresAt: expiresAt ?? null, storedIn },
    },
    [
      ['address', email ?? subject],
      ['role', role],
      ['service', url],
      ['profile', profile?.name ?? ''],
      ['token', prefix, `${prefix}…${name === undefined ? '' : ` (${name})`}`],
      ['expires', expiresAt ?? 'never', expiresAt === undefined ? 'never' : dayOf(expiresAt)],
      ['kept in', profile === undefined ? 'DOORSTEP_TOKEN' : openProfiles(environment).placeOf(profile)],
    ],
  );
};
