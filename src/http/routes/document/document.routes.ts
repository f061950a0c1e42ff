import { Type } from 'typebox';
import { documentDecider } from '../../../commands/document/document.decider.js';
import { uploadDocument } from '../../../commands/document/document.handlers.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import type { FileStore } from '../../../integrations/files/port.js';
import { isShownInline } from '../../../platform/fileContentType.js';
import type { DocumentDocument } from '../../../projections/document/document.projection.js';
import {
  countDocuments,
  documentSortKey,
  documentSorts,
  listDocuments,
  readDocument,
} from '../../../projections/document/document.queries.js';
import type { Reader } from '../../../projections/reader.js';
import type { FileAddresses } from '../../fileAddress.js';
import { readNamed, readPage, totalOf } from '../../paging.js';
import { noContent, route, type Answer, type Route, type RouteTag } from '../../route.js';
import { NonBlank } from '../../schemas.js';
import type { StorageLimit } from '../../storageLimit.js';
import { cleaned, Document, FileAddress, FileName, toDocument } from './document.resource.js';

const documentTag: RouteTag = { name: 'Documents', description: 'Files that the agency shares with the members of a website.' };

export interface DocumentRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly files: FileStore;
  readonly storageLimit: StorageLimit;
  readonly fileAddresses: FileAddresses;
}

export const documentRoutes = (parts: DocumentRouteParts): readonly Route[] => {
  const { reader, files, storageLimit, fileAddresses } = parts;

  const find = async (
    websiteId: string,
    documentId: string,
    through?: bigint,
  ): Promise<{ readonly document: DocumentDocument; readonly revision: bigint }> => {
    const found = await readDocument(reader, websiteId, documentId, through);
    if (found === null) throw new Refused(refusals.documentNotFound(documentId));
    return found;
  };

  const answerAsOf = async (websiteId: string, documentId: string, through?: bigint): Promise<Answer> => {
    const { document, revision } = await find(websiteId, documentId, through);
    return { body: toDocument(document), revision };
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/documents',
      operationId: 'listDocuments',
      summary: 'List the documents of a website, newest first, or read some by their ids',
      description: 'Without the deleted ones. Sorted by `name`, case and diacritics do not count.',
      tag: documentTag,
      scope: 'website',
      access: 'members',
      feature: 'documents',
      paging: { sort: documentSorts, count: true, ids: true },
      answers: { 200: { description: 'A page of documents.', schema: Type.Array(Document) } },
      answer: async ({ params: { id: websiteId }, query }) => {
        const named = await readNamed(query, async (id) => (await readDocument(reader, websiteId, id))?.document ?? null);
        if (named !== null) return { body: named.map(toDocument), total: await totalOf(query, () => named.length) };
        const { items, next } = await readPage(
          query,
          ({ id }: DocumentDocument) => id,
          (page) => listDocuments(reader, websiteId, page),
          documentSortKey,
        );
        const total = await totalOf(query, () => countDocuments(reader, websiteId));
        return {
          body: items.map(toDocument),
          next,
          total,
        };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/documents',
      operationId: 'uploadDocument',
      summary: 'Upload a document',
      description:
        'A form with one part `file`, of up to 100 MB. The type is found by the content. A dry run reads the file and stores nothing. With an `Idempotency-Key` the same file under the same name is the same request.',
      tag: documentTag,
      scope: 'website',
      access: 'admin',
      feature: 'documents',
      upload: { files, admit: storageLimit.admit },
      asksProvider: true,
      body: Type.Object({ name: Type.Optional(FileName('plan.pdf')) }),
      example: { body: { name: 'site plan.pdf' } },
      refusals: ['storage_limit_reached'],
      answers: { 201: { description: 'The document.', schema: Document } },
      act: async ({ params: { id: websiteId }, body, upload, keepUpload, context }, acting) => {
        const { key: file, fileName, contentType, bytes: size, sha256 } = upload;
        const name = body.name === undefined ? fileName : cleaned(body.name);
        const handled = await storageLimit.withRoom(websiteId, 'added', (room) =>
          uploadDocument(acting, { websiteId, file, name, contentType, size, sha256, room }, context),
        );
        if (handled.hasFile) keepUpload();
        return handled;
      },
      answer: async ({ params: { id } }, { documentId, revision }) => ({
        ...(await answerAsOf(id, documentId, revision)),
        status: 201,
      }),
    }),

    route({
      method: 'get',
      path: '/websites/:id/documents/:documentId',
      operationId: 'getDocument',
      summary: 'Read what is known of a document',
      description: 'Its name, type and size. The content is at its address.',
      tag: documentTag,
      scope: 'website',
      access: 'members',
      feature: 'documents',
      refusals: ['document_not_found'],
      answers: { 200: { description: 'The document.', schema: Document } },
      answer: ({ params: { id, documentId } }) => answerAsOf(id, documentId),
    }),

    route({
      method: 'patch',
      path: '/websites/:id/documents/:documentId',
      operationId: 'renameDocument',
      summary: 'Rename a document',
      description: 'Its type stays what its content says.',
      tag: documentTag,
      scope: 'website',
      access: 'admin',
      feature: 'documents',
      ifMatch: 'honoured',
      body: Type.Object({ name: NonBlank(200, { description: 'The new name, which is cleaned.', examples: ['site plan.pdf'] }) }),
      refusals: ['document_not_found'],
      answers: { 200: { description: 'The document.', schema: Document } },
      act: ({ params: { id: websiteId, documentId }, body: { name }, context, expectation }, acting) =>
        acting.handle(
          documentDecider,
          { type: 'RenameDocument', websiteId, documentId, name: cleaned(name) },
          context,
          expectation,
        ),
      answer: ({ params: { id, documentId } }, { revision }) => answerAsOf(id, documentId, revision),
    }),

    route({
      method: 'delete',
      path: '/websites/:id/documents/:documentId',
      operationId: 'deleteDocument',
      summary: 'Delete a document',
      description: 'It can be restored for 30 days. Then its file is removed.',
      tag: documentTag,
      scope: 'website',
      access: 'admin',
      feature: 'documents',
      ifMatch: 'honoured',
      refusals: ['document_not_found'],
      answers: { 204: { description: 'It is deleted, and its addresses are refused.' } },
      act: async ({ params: { id: websiteId, documentId }, context, expectation }, acting) => {
        const command = { type: 'DeleteDocument', websiteId, documentId } as const;
        await acting.handle(documentDecider, command, context, {
          ...expectation,
          ifNothing: refusals.documentNotFound(documentId),
        });
      },
      answer: noContent,
    }),

    route({
      method: 'post',
      path: '/websites/:id/documents/:documentId/undo',
      operationId: 'restoreDocument',
      summary: 'Restore a deleted document',
      description: 'Within 30 days of its deletion. One that is not deleted stays as it is.',
      tag: documentTag,
      scope: 'website',
      access: 'admin',
      feature: 'documents',
      ifMatch: 'honoured',
      refusals: ['document_not_found', 'document_deleted_too_long_ago', 'storage_limit_reached'],
      answers: { 200: { description: 'The document.', schema: Document } },
      act: ({ params: { id: websiteId, documentId }, context, expectation }, acting) =>
        storageLimit.withRoom(websiteId, 'restored', (room) =>
          acting.handle(documentDecider, { type: 'RestoreDocument', websiteId, documentId, room }, context, expectation),
        ),
      answer: ({ params: { id, documentId } }, { revision }) => answerAsOf(id, documentId, revision),
    }),

    route({
      method: 'get',
      path: '/websites/:id/documents/:documentId/url',
      operationId: 'getDocumentAddress',
      summary: 'Get an address of the file, good for 5 minutes',
      description:
        'Whoever has the address gets the file. One of this service is refused as soon as the caller lost access or the document is deleted; one of S3 lapses.',
      tag: documentTag,
      scope: 'website',
      access: 'members',
      feature: 'documents',
      query: Type.Object({
        disposition: Type.Optional(
          Type.Enum(['inline', 'attachment'], {
            default: 'attachment',
            description: 'Whether it is shown, which only PDF and images are, or saved.',
          }),
        ),
      }),
      asksProvider: true,
      refusals: ['document_not_found'],
      answers: { 200: { description: 'The address.', schema: FileAddress } },
      answer: async ({ params: { id, documentId }, query: { disposition = 'attachment' }, caller, viewer }) => {
        const { document } = await find(id, documentId);
        if (disposition === 'inline' && !isShownInline(document.contentType)) {
          throw new Refused(refusals.invalidQuery('disposition', 'only PDF and images can be shown; use attachment'));
        }
        return { body: await fileAddresses.sign('document', document, disposition, { caller, viewer }) };
      },
    }),
  ];
};
