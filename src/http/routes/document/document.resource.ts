import { Refused, refusals } from '../../../commands/refusal.js';
import { cleanFileName } from '../../../platform/fileName.js';
import { NonBlank } from '../../schemas.js';
import { Type, type Static, type TString } from 'typebox';
import { isShownInline } from '../../../platform/fileContentType.js';
import type { DocumentDocument } from '../../../projections/document/document.projection.js';

export const Document = Type.Object(
  {
    id: Type.String({ examples: ['01m820a5w8c1n3v6y9b2d4f7hk'] }),
    websiteId: Type.String(),
    name: Type.String({ description: 'Of the file, cleaned.', examples: ['plan.pdf'] }),
    contentType: Type.String({ description: 'By the content of the file.', examples: ['application/pdf'] }),
    size: Type.Integer({ description: 'In bytes.', examples: [48_210] }),
    sha256: Type.String({
      description: 'Of the content, hexadecimal.',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    previewable: Type.Boolean({ description: 'Whether it can be shown in a page: PDF and images.', examples: [true] }),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { $id: 'Document', description: 'A file that the members of a website can read.' },
);

export const toDocument = (document: DocumentDocument): Static<typeof Document> => {
  const { id, websiteId, name, contentType, size, sha256, createdAt, updatedAt } = document;
  return { id, websiteId, name, contentType, size, sha256, previewable: isShownInline(contentType), createdAt, updatedAt };
};

export const FileAddress = Type.Object(
  {
    url: Type.String({
      description: 'Gives the file to whoever has it, without a token.',
      examples: ['https://doorstep.example.com/files/01m820a5w8c1n3v6y9b2d4f7hk?signature=1.Zm9v'],
    }),
    expiresAt: Type.String({ format: 'date-time' }),
  },
  { $id: 'FileAddress', description: 'A signed address of a file.' },
);

/** What an uploaded file is to be called. */
export const FileName = (example: string): TString =>
  NonBlank(200, {
    description: 'Without it, the name of the file. Folders and what no system takes are left out.',
    examples: [example],
  });

/** @throws Refused when nothing is left of the name */
export const cleaned = (name: string): string => {
  const clean = cleanFileName(name);
  if (clean === null) throw new Refused(refusals.invalidBody('name', 'must be the name of a file'));
  return clean;
};
