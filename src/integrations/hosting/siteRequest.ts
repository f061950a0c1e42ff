/** What of a site a request asks for. */
export interface SiteRequest {
  /** The name that the site's address has. */
  readonly name: string;
  readonly deploymentId: string | null;
  /** Of a preview, instead of a deployment. */
  readonly secret: string | null;
  /** Null when the slash after the address of the site, deployment or preview is missing. */
  readonly path: string | null;
  /** The path of the request's URL, as it was sent. */
  readonly address: string;
  /** Without its question mark. */
  readonly query: string;
}

/**
 * Null when the URL is that of no site, or not percent-encoded as it must be.
 * @param name absent: the URL begins with it
 */
export const parseSiteRequest = (url: string, name?: string): SiteRequest | null => {
  const [address = '', query = ''] = url.split(/\?(.*)/s);
  const parts = /^\/([^/]+)(?:\/_(?:deployments\/([^/]+)|previews\/([^/]+)))?(?:\/(.*))?$/s.exec(
    name === undefined ? address : `/${name}${address}`,
  );
  const [, named, deploymentId = null, secret = null, path] = parts ?? [];
  if (named === undefined) return null;
  try {
    return { name: named, deploymentId, secret, path: path === undefined ? null : decodeURIComponent(path), address, query };
  } catch {
    return null;
  }
};

/** A query as the end of an address. */
export const suffix = (query: string): string => (query === '' ? '' : `?${query}`);
