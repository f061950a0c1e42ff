import type { Context } from '../context.js';
import { openProfiles } from '../profiles.js';
import { dayOf, keyOf } from './login.js';

/** Who calls, by which token. The token itself is not shown. */
export const whoami = async (context: Context): Promise<void> => {
  const { output, environment } = context;
  const { url, token, profile } = await context.connection();
  const client = await context.doorstep();
  const { subject, email, role } = await client.me.get();
  const key = await keyOf(client, token);
  const storedIn = profile?.storedIn ?? 'environment';
  const prefix = token.slice(0, 12);
  await output.resource(
    {
      subject,
      email: email ?? null,
      role,
      url,
      profile: profile?.name ?? null,
      token: { id: key?.id ?? null, name: key?.name ?? null, prefix, expiresAt: key?.expiresAt ?? null, storedIn },
    },
    [
      ['address', email ?? subject],
      ['role', role],
      ['service', url],
      ['profile', profile?.name ?? ''],
      ['token', prefix, `${prefix}…${key === undefined ? '' : ` (${key.name})`}`],
      ['expires', key?.expiresAt ?? 'never', key?.expiresAt === undefined ? 'never' : dayOf(key.expiresAt)],
      ['kept in', profile === undefined ? 'DOORSTEP_TOKEN' : openProfiles(environment).placeOf(profile)],
    ],
  );
};
