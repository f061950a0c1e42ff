import { optionsOf, runScript, UsageError } from './script.js';

/**
 * `npm run sessions:end`: signs everybody out of the embedded sign-in, also while the service is
 * running.
 */
await runScript(async ({ engine }, { auth }) => {
  optionsOf('endSessions', {});
  if (auth.issuer !== undefined) {
    throw new UsageError('People sign in at AUTH_ISSUER: end their sessions there. Nothing was changed here.');
  }
  await engine.vault.endSessions();
  process.stdout.write(
    'Everybody is signed out: no session, refresh token or access token of the sign-in is valid any more. Personal access tokens stay: `npm run token -- --revoke --subject <subject>` revokes those of a person.\n',
  );
});
