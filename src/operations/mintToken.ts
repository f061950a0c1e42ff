import { parseArgs } from 'node:util';
import { mintApiKey } from '../commands/apiKey.handlers.js';
import { isTime, utcTime } from '../platform/times.js';
import { runScript, UsageError } from './script.js';

const usage =
  'usage: npm run --silent token -- --role admin|client --subject <subject> [--email <address>] [--name <name>] [--scope read|write] [--expires-at <time>]';

const options = {
  role: { type: 'string' },
  subject: { type: 'string' },
  email: { type: 'string' },
  name: { type: 'string' },
  scope: { type: 'string' },
  'expires-at': { type: 'string' },
} as const;

const given = (): ReturnType<typeof parseArgs<{ options: typeof options }>>['values'] => {
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

/** Prints a new personal access token, and nothing else. Whoever may run this owns the machine: an address given here counts as verified. */
await runScript(async ({ engine }) => {
  const { role, subject, email, name, scope, 'expires-at': expiresAt } = given();
  if (subject === undefined || subject.trim() === '') throw new UsageError(`--subject is missing\n${usage}`);
  if (email !== undefined && !isAddress(email)) throw new UsageError(`--email must be an e-mail address\n${usage}`);
  if (expiresAt !== undefined && !(isTime(expiresAt) && Date.parse(utcTime(expiresAt)) > engine.clock.now())) {
    throw new UsageError(`--expires-at must be an ISO 8601 time in the future\n${usage}`);
  }
  const { token } = await mintApiKey(
    engine,
    {
      name: name ?? 'minted on the server',
      subject,
      callerRole: 'admin',
      role: oneOf('role', role, ['admin', 'client']),
      scope: oneOf('scope', scope ?? 'write', ['read', 'write']),
      verifiedEmail: (email ?? (isAddress(subject) ? subject : undefined))?.toLowerCase(),
      expiresAt,
    },
    engine.random.bytes(64),
    {
      commandId: engine.ids.commandId(),
      actor: { subject: 'mintToken', role: 'system', via: 'worker' },
      requestId: 'mintToken',
    },
  );
  process.stdout.write(`${token}\n`);
});
