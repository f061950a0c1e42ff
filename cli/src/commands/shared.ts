/**
 * What commands of several resources do alike.
 */
import type { Deployment, Doorstep, List, Website } from '@doorstep/sdk';
import { flag, number, Refusal, text, UsageError, type Option } from '../command.js';
import type { Context, Explain, WriteOptions } from '../context.js';

/** The website that a slug or an id names, as lists show it. @throws with another slug where one is near */
export const findWebsite = async ({ doorstep }: Context, name: string): Promise<Website> =>
  (await doorstep()).websites.findListed(name);

interface Found {
  readonly doorstep: Doorstep;
  readonly website: Website;
}

/** The client, and the website that a slug or an id names. */
export const at = async (context: Context, name: string): Promise<Found> => ({
  doorstep: await context.doorstep(),
  website: await findWebsite(context, name),
});

/** Options of every list. */
export const listing = {
  limit: number('At most so many; without it 50', { short: 'l' }),
  all: flag('All of them, however many there are'),
};

/** What `--expires` takes, as `login/expiry.ts` reads it. */
export const expiry = 'When the token ends: 90d, 12h, 2w, a day ("22 Dec", "in 30 days"), or never';

interface Listing {
  readonly limit?: number | undefined;
  readonly all: boolean;
}

const pageSize = 50;
/** The most that one request may ask for. */
const maxPageSize = 200;

/**
 * As many as were asked for, in as many requests as it takes. Without `--limit` and `--all` the first
 * page, and a word that there are more.
 */
export const readList = async <T>(
  { output }: Context,
  read: (page: { limit: number }) => List<T>,
  { limit, all }: Listing,
): Promise<T[]> => {
  if (all && limit !== undefined) throw new UsageError('--all and --limit exclude each other');
  const wanted = all ? Infinity : (limit ?? pageSize);
  const items: T[] = [];
  let more = false;
  for await (const page of read({ limit: Math.min(wanted, maxPageSize) }).pages()) {
    items.push(...page.slice(0, wanted - items.length));
    more = page.hasMore;
    if (items.length >= wanted) break;
  }
  if (more && limit === undefined) output.note(`These are the first ${String(items.length)}. Add --all for all of them.`);
  return items;
};

interface Done {
  /** What was done, on standard error. */
  readonly said: string;
  /** What a script goes on with: an id, an address. */
  readonly value?: string;
}

/**
 * Sends a write, and says what it did. `--json` gives the resource; in a pipe its one value stands on
 * standard output. With `--dry-run` it is printed what would happen.
 */
export const change = async <T>(
  context: Context,
  send: (options: WriteOptions) => Promise<T>,
  done: (answer: T) => Done,
  explain?: Explain,
): Promise<T | undefined> => {
  const answer = await context.write(send, explain);
  if (context.globals.dryRun) return undefined;
  const { said, value } = done(answer as T);
  context.output.done(said);
  if (answer !== undefined)
    await context.output.view(
      answer,
      () => [],
      () => (value === undefined ? [] : [[value]]),
    );
  return answer;
};

/**
 * Has a website built, and says how its deployment stands: where nothing has changed it is the newest one,
 * and where building is quick it has ended.
 * @throws Refusal when the build has failed
 */
export const deploy = async (
  context: Context,
  { name, slug }: Website,
  send: (options: WriteOptions) => Promise<Deployment>,
): Promise<void> => {
  await change(context, send, ({ id, status, error }) => {
    if (status === 'failed') throw new Refusal(`${name} could not be built: ${error ?? 'nobody knows why'}`);
    return {
      said:
        status === 'ready'
          ? `The site of ${name} is up to date.`
          : `${name} is being built. How it goes: doorstep deployments ${slug}`,
      value: id,
    };
  });
};

/** An id of a client, from an id or an address. @throws Refusal when nobody has the address */
export const clientIdOf = async (doorstep: Doorstep, idOrEmail: string): Promise<string> => {
  if (!idOrEmail.includes('@')) return idOrEmail;
  const [client] = await doorstep.clients.list({ email: idOrEmail });
  if (client === undefined) throw new Refusal(`No client has the address ${idOrEmail}.`);
  return client.id;
};

/** The one with this id, or the only one with this name. @throws Refusal */
export const byIdOrName = async <T extends { readonly id: string; readonly name: string }>(
  list: AsyncIterable<T>,
  idOrName: string,
  what: string,
): Promise<T> => {
  const named: T[] = [];
  for await (const one of list) {
    if (one.id === idOrName) return one;
    if (one.name === idOrName) named.push(one);
  }
  const [found, second] = named;
  if (found === undefined) throw new Refusal(`There is no ${what} ${idOrName}.`);
  if (second !== undefined)
    throw new Refusal(
      `${String(named.length)} are called ${idOrName}. Name one by its id: ${named.map(({ id }) => id).join(', ')}`,
    );
  return found;
};

/** A file that was named, `-` being standard input, as JSON. @throws Refusal */
export const readJson = async ({ stdin }: Context, file: string): Promise<unknown> => {
  const { readText } = await import('../files.js');
  const given = file === '-' ? await stdin() : await readText(file);
  try {
    return JSON.parse(given);
  } catch (error) {
    throw new Refusal(`${file === '-' ? 'Standard input' : file} is not JSON: ${(error as Error).message}`);
  }
};

/** `--sort <field>`, from the fields that the operation sorts by; `-field` is the other way round. */
export const sorted = (...fields: readonly string[]): Option<string | undefined> =>
  text(`By ${fields.join(', ')}; -${fields[0] ?? ''} is the other way round`, { placeholder: 'field' });
