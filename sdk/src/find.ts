import { Websites } from './generated/resources.js';
import type { Website } from './generated/models.js';
import { NotFoundError, PermissionError } from './errors.js';
import type { RequestOptions } from './types.js';

/** As the service makes them: 26 characters of Crockford's base32. */
const idPattern = /^[0-9a-hjkmnp-tv-z]{26}$/;
const maxSearchLength = 200;
/** The service refuses to list by anything else. */
const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** `doorstep.websites`, with what one request cannot do. */
export class FindableWebsites extends Websites {
  /**
   * Reads a website by its id or its slug; an archived one by its slug as an admin alone.
   *
   * @throws NotFoundError with the slug of a website that may have been meant as `suggestion`
   * @example
   * ```ts
   * const website = await doorstep.websites.find('corner-bakery');
   * ```
   */
  async find(idOrSlug: string, options?: RequestOptions): Promise<Website> {
    const { website, isListed } = await this.#find(idOrSlug, options);
    return isListed ? await this.get(website.id, options) : website;
  }

  /**
   * As `find`, but a website that is named by its slug is given as lists show it, without `billing`: one
   * request less.
   *
   * @throws NotFoundError as `find` does
   * @example
   * ```ts
   * const { id } = await doorstep.websites.findListed('corner-bakery');
   * ```
   */
  async findListed(idOrSlug: string, options?: RequestOptions): Promise<Website> {
    return (await this.#find(idOrSlug, options)).website;
  }

  async #find(idOrSlug: string, options: RequestOptions | undefined): Promise<{ website: Website; isListed: boolean }> {
    if (idPattern.test(idOrSlug)) {
      try {
        return { website: await this.get(idOrSlug, options), isListed: false };
      } catch (error) {
        // A slug may look like an id.
        if (!(error instanceof NotFoundError)) throw error;
      }
    }
    const slug = idOrSlug.toLowerCase();
    const found = (await this.#search(slug, options)).find((website) => website.slug === slug);
    const website = found ?? (await this.#archived(slug, options));
    if (website !== undefined) return { website, isListed: true };

    // A slip is in one half: the other one is found.
    const middle = Math.ceil(slug.length / 2);
    const halves = [slug.slice(0, middle), slug.slice(middle)].filter((half) => half !== '');
    const near = (await Promise.all(halves.map((half) => this.#search(half, options)))).flat();
    const message = `Website ${idOrSlug} not found`;
    const body = { error: message, code: 'website_not_found', details: null };
    throw new NotFoundError(message, { status: 404, body, headers: new Headers() }, nearest(slug, near));
  }

  async #search(q: string, options: RequestOptions | undefined): Promise<readonly Website[]> {
    // The service refuses such a search; no slug is like it.
    if (q.trim() === '' || q.length > maxSearchLength) return [];
    const { websites } = await this._client.call<{ websites: Website[] }>(
      'GET',
      '/search',
      {},
      { query: { q } },
      options,
      'json',
    );
    return websites;
  }

  async #archived(slug: string, options: RequestOptions | undefined): Promise<Website | undefined> {
    if (!slugPattern.test(slug)) return undefined;
    try {
      return (await this.list({ slug, archived: true }, options))[0];
    } catch (error) {
      // Clients of the agency have no such list.
      if (error instanceof PermissionError) return undefined;
      throw error;
    }
  }
}

/** The slug that is most like it, when it is like it. */
const nearest = (slug: string, websites: readonly Website[]): string | undefined => {
  const maxDistance = Math.max(1, Math.min(3, Math.floor(slug.length / 3)));
  const byDistance = websites.map((website) => ({ slug: website.slug, distance: distance(slug, website.slug) }));
  byDistance.sort((one, other) => one.distance - other.distance);
  return byDistance[0] !== undefined && byDistance[0].distance <= maxDistance ? byDistance[0].slug : undefined;
};

/** How many characters are to be added, left out or changed (Levenshtein). */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let index = 0; index < one.length; index += 1) {
    const next = [index + 1];
    for (let at = 1; at <= other.length; at += 1) {
      const changed = (row[at - 1] ?? 0) + (one[index] === other[at - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};
