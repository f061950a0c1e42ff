/** A repository as events and read models hold it. */
interface StoredRepository {
  readonly provider: string;
  readonly cloneUrl: string;
}

/**
 * Where a repository is cloned from. The stored address of an embedded one is a path of the server's
 * machine, which is nobody's business: it is cloned over HTTP.
 * @param baseUrl public base address of the service, without a trailing slash
 */
export const cloneUrlOf = ({ provider, cloneUrl }: StoredRepository, slug: string, baseUrl: () => string): string =>
  provider === 'embedded' ? `${baseUrl()}/git/${slug}.git` : cloneUrl;
