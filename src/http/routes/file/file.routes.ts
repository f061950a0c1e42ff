import { Type } from 'typebox';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { findLiveKey } from '../../../events/apiKey/apiKey.directory.js';
import { keyOfId } from '../../../events/apiKey/apiKey.stream.js';
import { clientIdOf } from '../../../events/client/client.directory.js';
import type { Feature } from '../../../events/website/website.events.js';
import type { FileStore } from '../../../integrations/files/port.js';
import type { IdentityProvider } from '../../../integrations/identity/port.js';
import { isoTime } from '../../../platform/clock.js';
import { isShownInline } from '../../../platform/fileContentType.js';
import { contentDisposition } from '../../../platform/fileName.js';
import { readMedia } from '../../../projections/media/media.queries.js';
import { readDocument } from '../../../projections/document/document.queries.js';
import type { Reader } from '../../../projections/reader.js';
import { authorise } from '../../auth/authorise.js';
import type { Caller } from '../../auth/caller.js';
import { goneRefusalFor } from '../../auth/gone.js';
import { httpErrors } from '../../errors.js';
import type { FileAddresses, FileKind } from '../../fileAddress.js';
import { route, type Route, type RouteTag } from '../../route.js';

const fileTag: RouteTag = { name: 'Files', description: 'The files of a folder, by their signed addresses.' };

export interface FileRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly files: FileStore;
  readonly fileAddresses: FileAddresses;
  readonly identityProvider: IdentityProvider | null;
}

interface ServedFile {
  readonly file: string;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
}

/**
 * Nothing of a file runs, loads or sends anything, also when it is opened as a page of its own; pages
 * of the portal may show it in a frame.
 */
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; frame-ancestors 'self'; sandbox";

/**
 * Serves the files of a store that has no addresses of its own. Whoever opens an address is not asked
 * who they are; whether the one that it was made for still may is asked each time.
 */
export const fileRoutes = (parts: FileRouteParts): readonly Route[] => {
  const { engine, files, fileAddresses, identityProvider } = parts;

  /** What each kind of file belongs to, and how it is found. */
  const kinds: Readonly<
    Record<
      FileKind,
      { readonly feature: Feature; readonly find: (reader: Reader, websiteId: string, id: string) => Promise<ServedFile | null> }
    >
  > = {
    document: {
      feature: 'documents',
      find: async (reader, websiteId, id) => (await readDocument(reader, websiteId, id))?.document ?? null,
    },
    media: {
      feature: 'content',
      find: async (reader, websiteId, id) => (await readMedia(reader, websiteId, id))?.document ?? null,
    },
  };

  /** @throws Refused when they are nobody any more, or no admin */
  const checkStill = async (
    reader: Reader,
    { tokenId, ...person }: Pick<Caller, 'subject' | 'role' | 'tokenId' | 'verifiedEmail'>,
  ): Promise<void> => {
    const key = tokenId === undefined ? undefined : await findLiveKey(reader, keyOfId(tokenId), isoTime(engine.clock.now()));
    if (key === null || (await goneRefusalFor(identityProvider, person, key)) !== null) {
      throw new Refused(refusals.fileAddressLapsed());
    }
  };

  /** The caller as of now. @throws Refused when they are nobody any more */
  const renewed = async (reader: Reader, caller: Caller): Promise<Caller> => {
    await checkStill(reader, caller);
    const { subject, role, verifiedEmail, clientId: _, ...rest } = caller;
    const clientId = role === 'client' ? await clientIdOf(reader, subject, verifiedEmail) : undefined;
    const person = { subject, role, ...(verifiedEmail !== undefined && { verifiedEmail }) };
    return { ...rest, ...person, ...(clientId !== undefined && { clientId }) };
  };

  return [
    route({
      method: 'get',
      path: '/files/:fileId',
      operationId: 'downloadFile',
      summary: 'Download a file by its signed address',
      tag: fileTag,
      scope: 'installation',
      access: 'public',
      hidden: true,
      query: Type.Object({ signature: Type.String({ minLength: 1, maxLength: 4_000 }) }),
      refusals: ['not_found', 'file_address_lapsed', 'not_authorized_for_website', 'website_not_found', 'feature_off'],
      asksProvider: true,
      faults: [
        'event_store_unavailable',
        'read_models_unavailable',
        'read_models_exchanged',
        'stopping',
        'vault_locked',
        'identity_provider_unavailable',
        'range_not_satisfiable',
      ],
      answers: { 200: { description: 'The file.', contentType: 'application/octet-stream' } },
      answer: async ({ params: { fileId }, query: { signature }, reader }) => {
        const { kind, websiteId, id, disposition, caller, viewer } = await fileAddresses.open(fileId, signature);
        if (viewer !== undefined) await checkStill(reader, viewer);
        const { feature, find } = kinds[kind];
        await authorise(
          reader,
          { access: 'members', scope: 'website', operationId: 'downloadFile', tag: fileTag, feature },
          await renewed(reader, caller),
          { id: websiteId },
        );
        const served = await find(reader, websiteId, id);
        if (served === null) throw httpErrors.notFound();
        const { file, name, contentType, size } = served;
        const isShown = disposition === 'inline' && isShownInline(contentType);
        return {
          headers: {
            'content-type': contentType.startsWith('text/') ? `${contentType}; charset=utf-8` : contentType,
            'content-disposition': contentDisposition(isShown ? 'inline' : 'attachment', name),
            'content-security-policy': policy,
            'x-frame-options': 'SAMEORIGIN',
          },
          content: {
            bytes: size,
            open: async (range) => {
              const found = await files.read(file, range);
              if (found === null) {
                // Its record is there: it was lost, or left out of what was restored.
                engine.logger.warn({ websiteId, file }, 'a file is missing where documents and media are kept');
                throw httpErrors.notFound();
              }
              return found.content;
            },
          },
        };
      },
    }),
  ];
};
