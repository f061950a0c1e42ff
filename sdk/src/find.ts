import { Websites } from './generated/resources.js';
import type { Website } from './generated/models.js';
import { NotFoundError, PermissionError } from './errors.js';
import type { RequestOptions } from './types.js';

/** As the service makes them: 26 characters of Crockford's base32. */
const idPattern = /^[0-9a-hjkmnp-tv-z]{26}$/;

/** `doorstep.websites`, with what one request cannot do. */
export class FindableWebsites extends Websites {
  /**
   * Reads a website by its id or its slug, archived ones too.
   *
   * @throws NotFoundError with the slug of a website that may have been meant as `suggestion`
   * @example
   * ```ts
   * const website = await doorstep.websites.find('corner-bakery');
   * ```
   */
  async find(idOrSlug: string, options?: RequestOptions): Promise<Website> {
    if (idPattern.test(idOrSlug)) {
      try {
        return await this.get(idOrSlug, options);
      } catch (error) {
        // A slug may look like an id.
        if (!(error instanceof NotFoundError)) throw error;
      }
    }
    const slug = idOrSlug.toLowerCase();
    const found = (await this.#search(slug, options)).find((website) => website.slug === slug);
    if (found !== undefined) return found;
    const archived = (await this.#archived(slug, options)).find((website) => website.slug === slug);
    if (archived !== undefined) return archived;

    // A slip is in one half: the other one is found.
    const middle = Math.ceil(slug.length / 2);
    const halves = [slug.slice(0, middle), slug.slice(middle)].filter((half) => half !== '');
    const near = (await Promise.all(halves.map((half) => this.#search(half, options)))).flat();
    const message = `Website ${idOrSlug} not found`;
    const body = { error: message, code: 'website_not_found', details: null };
    throw new NotFoundError(message, { status: 404, body, headers: new Headers() }, nearest(slug, near));
  }

  async #search(q: string, options: RequestOptions | undefined): Promise<readonly Website[]> {
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

  async #archived(q: string, options: RequestOptions | undefined): Promise<readonly Website[]> {
    try {
      return await this.list({ q, archived: true }, options);
    } catch (error) {
      // Clients of the agency have no such list.
      if (error instanceof PermissionError) return [];
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
