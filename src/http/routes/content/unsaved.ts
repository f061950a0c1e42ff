import { maxContentBytes } from '../../../commands/content/content.handlers.js';
import { dataFile } from '../../../events/content/content.files.js';
import { declaredIn, type SourceHost } from '../../../integrations/sourceHost/port.js';
import { createSharedCalls } from '../../../platform/sharedCalls.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { isTooDeep } from '../../validation.js';

/**
 * What the repository of a website holds of the documents that its template declares, by id, in the
 * order of the ids: what people edit first.
 * @param wanted which of them. Default: all
 * @throws ProviderFault
 */
export type ReadUnsaved = (
  website: Pick<WebsiteDocument, 'templateId' | 'repository'>,
  wanted?: (documentId: string) => boolean,
) => Promise<ReadonlyMap<string, unknown>>;

export const createReadUnsaved = (sourceHost: SourceHost): ReadUnsaved => {
  const sharedReads = createSharedCalls();

  const read = async (repositoryId: string, ids: readonly string[]): Promise<ReadonlyMap<string, unknown>> => {
    const { files } = await sourceHost.readFiles(repositoryId, ids.map(dataFile));
    const found = new Map<string, unknown>();
    for (const id of ids) {
      const file = files.get(dataFile(id));
      const body = file === undefined ? undefined : documentIn(file);
      if (body !== undefined) found.set(id, body);
    }
    return found;
  };

  return async ({ templateId, repository }, wanted = () => true) => {
    // Before it is provisioned there is none; elsewhere, nobody can be asked.
    if (repository?.provider !== sourceHost.provider) return new Map();
    const ids = declaredIn(await sourceHost.readEditable(templateId))
      .filter(wanted)
      .sort();
    if (ids.length === 0) return new Map();
    // Each holds up to 64 MB of what was pushed; those who ask at once, or went away, share one.
    return sharedReads.run(JSON.stringify([repository.id, ids]), () => read(repository.id, ids), { afterOther: true });
  };
};

/**
 * What somebody has pushed may be anything: what is no JSON, or larger or deeper than what is saved, is no document.
 * One that is larger kept the process busy for seconds whenever it was read.
 */
const documentIn = (file: Uint8Array): unknown => {
  if (file.byteLength > maxContentBytes) return undefined;
  try {
    const body: unknown = JSON.parse(Buffer.from(file).toString('utf8'));
    // As a part of the request that would save it.
    return isTooDeep(body, 1) ? undefined : body;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
