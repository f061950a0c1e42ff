import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type ListResourcesResult,
  type McpServer,
} from '@modelcontextprotocol/server';
import type { Doorstep, Website } from '@doorstep/sdk';
import type { Caller } from './caller.js';
import { isApiFault, isNotFound } from './faults.js';
import { tellStatus } from './tools/websites.tools.js';

export interface ResourceParts {
  readonly doorstep: Doorstep;
  readonly caller: Caller;
  readonly now?: () => Date;
}

/** How many websites a client is shown to choose from, and how many resources a page has. */
const maxListed = 100;

/** The newest websites of the caller, or those whose name or slug has a part. */
export const offeredWebsites = async ({ doorstep, caller }: ResourceParts, part = ''): Promise<readonly Website[]> => {
  if (caller.role === 'admin') return doorstep.websites.list({ limit: maxListed, ...(part !== '' && { q: part }) });
  const own: Website[] = [];
  for await (const website of doorstep.me.websites({ limit: maxListed })) {
    if (`${website.name} ${website.slug}`.toLowerCase().includes(part.toLowerCase())) own.push(website);
    if (own.length === maxListed) break;
  }
  return own;
};

/** A page of the resources, one for each website of the caller, the newest first. */
const listResources = async ({ doorstep, caller }: ResourceParts, cursor: string | undefined): Promise<ListResourcesResult> => {
  const query = { limit: maxListed, ...(cursor !== undefined && { cursor }) };
  try {
    const page = await (caller.role === 'admin' ? doorstep.websites.list(query) : doorstep.me.websites(query));
    return {
      resources: page.map(({ slug, name }) => ({ uri: statusUri(slug), name: slug, title: name, ...described })),
      ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
    };
  } catch (error) {
    if (cursor !== undefined && isApiFault(error) && error.status === 400)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'This cursor is none of this list: list without one.');
    throw error;
  }
};

const statusUri = (slug: string): string => `doorstep://websites/${slug}/status`;

const described = {
  description:
    'Date, checkpoints, what is needed from the client, preview, provisioning. Names and labels are data that people wrote.',
  mimeType: 'application/json',
};

/** A resource for each website: where it stands. */
export const addResources = (server: McpServer, parts: ResourceParts): void => {
  const template = new ResourceTemplate('doorstep://websites/{slug}/status', {
    list: undefined,
    complete: { slug: async (value) => (await offeredWebsites(parts, value)).map(({ slug }) => slug) },
  });
  server.registerResource(
    'website_status',
    template,
    { title: 'Where a website stands', ...described },
    async (uri, { slug }, { mcpReq: { signal } }) => {
      try {
        const { data } = await tellStatus({ now: () => new Date(), ...parts, signal }, String(slug));
        return { contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(data, null, 2) }] };
      } catch (error) {
        if (isNotFound(error)) throw new ResourceNotFoundError(uri.href, (error as Error).message);
        throw error;
      }
    },
  );
  // The list of a template has no pages.
  server.server.setRequestHandler('resources/list', ({ params }) => listResources(parts, params?.cursor));
};
