import { parseArgs } from 'node:util';
import { mintApiKey, revokeApiKey } from '../commands/apiKey/apiKey.handlers.js';
import type { CommandContext } from '../commands/handleCommand.js';
import type { Engine } from '../engine.js';
import { clientEmailFold, clientSubjectFold } from '../events/client/client.state.js';
import { listApiKeys } from '../projections/apiKey/apiKey.queries.js';
import { isoTime } from '../platform/clock.js';
import { hasExpired, isTime, utcTime } from '../platform/times.js';
import { runScript, UsageError } from './script.js';
import { usageOf } from './scriptHelp.js';
import type { Reader } from '../projections/reader.js';
import { canonicalAddress } from '../platform/emailAddress.js';

const usage = usageOf('mintToken');

const options = {
  role: { type: 'string' },
  subject: { type: 'string' },
  email: { type: 'string' },
  name: { type: 'string' },
  scope: { type: 'string' },
  'expires-at': { type: 'string' },
  // Without effect: commands written for an earlier build pass it.
  force: { type: 'boolean' },
  revoke: { type: 'boolean' },
} as const;

const readOptions = (): ReturnType<typeof parseArgs<{ options: typeof options }>>['values'] => {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${usage}`);
  }
};

const oneOf = <Choice extends string>(name: string, value: string | undefined, choices: readonly Choice[]): Choice => {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw new UsageError(`--${name} must be ${choices.join(' or ')}\n${usage}`);
  return found;
};

const isAddress = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text);

/** Whether a client or an invitation is theirs. */
const isSomebody = async (engine: Engine, subject: string, email: string | undefined): Promise<boolean> => {
  const { state: bound } = await engine.state(clientSubjectFold, { subjectIndex: engine.blindIndex(subject) });
  if (bound.clientId !== undefined) return true;
  if (email === undefined) return false;
  const { state: addressed } = await engine.state(clientEmailFold, { emailIndex: engine.blindIndex(email) });
  return addressed.clientId !== undefined;
};

const context = ({ ids }: Engine): CommandContext => ({
  commandId: ids.commandId(),
  actor: { subject: 'mintToken', role: 'system', via: 'operator' },
  requestId: 'mintToken',
});

/** Revokes every token of a subject, who may have lost a role or left the organisation. */
const revokeAll = async (engine: Engine, reader: Reader, subject: string): Promise<number> => {
  // All are listed first: a list waits for what the revocations write, and while the service is stopped
  // nobody projects that.
  const ids: string[] = [];
  for (let after: string | undefined; ;) {
    const keys = await listApiKeys(reader, { subject, limit: 200, ...(after !== undefined && { after }) });
    ids.push(...keys.map(({ id }) => id));
    after = keys.at(-1)?.id;
    if (after === undefined) break;
  }
  for (const id of ids) await revokeApiKey(engine, id, { role: 'admin' }, context(engine));
  return ids.length;
};

/**
 * Prints a new personal access token and nothing else, or, with `--revoke`, revokes every token of
 * a subject. The caller controls the machine, so an address given here counts as verified.
 */
await runScript(
  async ({ engine, reader }) => {
    const { role, subject, email, name, scope, 'expires-at': expiresAt, revoke = false } = readOptions();
    if (subject === undefined || subject.trim() === '') throw new UsageError(`--subject is missing\n${usage}`);
    if (revoke) {
      process.stdout.write(`Tokens revoked: ${String(await revokeAll(engine, reader, subject))}\n`);
      return;
    }
    if (email !== undefined && !isAddress(email)) throw new UsageError(`--email must be an e-mail address\n${usage}`);
    if (expiresAt !== undefined && (!isTime(expiresAt) || hasExpired(utcTime(expiresAt), isoTime(engine.clock.now())))) {
      throw new UsageError(`--expires-at must be an ISO 8601 time in the future\n${usage}`);
    }
    const chosenRole = oneOf('role', role, ['admin', 'client']);
    const address = email ?? (isAddress(subject) ? subject : undefined);
    const verifiedEmail = address === undefined ? undefined : canonicalAddress(address);
    if (chosenRole === 'client' && !(await isSomebody(engine, subject, verifiedEmail))) {
      process.stderr.write(
        `Warning: nobody is known as ${subject}: no client and no invitation. The token reads no website until they are added to one.\n`,
      );
    }
    const { token } = await mintApiKey(
      engine,
      {
        name: name ?? 'minted on the server',
        subject,
        callerRole: 'admin',
        role: chosenRole,
        scope: oneOf('scope', scope ?? 'write', ['read', 'write']),
        verifiedEmail,
        expiresAt,
      },
      engine.random.bytes(64),
      context(engine),
    );
    process.stdout.write(`${token}\n`);
  },
  // A token to revoke is in stores that are there.
  { createsStores: !process.argv.includes('--revoke') },
);
