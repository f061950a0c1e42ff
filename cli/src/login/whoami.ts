import type { Context } from '../context.js';
import { openProfiles } from '../profiles.js';
import { credentialOf, dayOf } from './login.js';

/** Who calls, by which token. The token itself is not shown. */
export const whoami = async (context: Context): Promise<void> => {
  const { output, environment } = context;
  const { url, token, profile } = await context.connection();
  const client = await context.doorstep();
  const me = await client.me.get();
  const { subject, email, role } = me;
  const { id, name, expiresAt } = credentialOf(me);
  const storedIn = profile?.storedIn ?? 'environment';
  // Of a token that the service does not name, nothing is known.
  const never = id === undefined ? '' : 'never';
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
      ['expires', expiresAt ?? never, expiresAt === undefined ? never : dayOf(expiresAt)],
      ['kept in', profile === undefined ? 'DOORSTEP_TOKEN' : openProfiles(environment).placeOf(profile)],
    ],
  );
};
