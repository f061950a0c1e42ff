import { Type, type Static } from 'typebox';
import type { APIKeyDocument } from '../../../projections/apiKey/apiKey.projection.js';
import type { KeyUse } from '../../auth/keyUse.js';

const time = Type.String({ format: 'date-time' });

const properties = {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'The first 12 characters of the token, by which its owner recognises it.' }),
  role: Type.Enum(['admin', 'client']),
  scope: Type.Enum(['read', 'write']),
  createdAt: time,
  expiresAt: Type.Optional(time),
  parentId: Type.Optional(
    Type.String({ description: 'The key whose token minted this one. When that one is revoked, so is this.' }),
  ),
  lastUsedAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'To the minute; absent when it was not used for 400 days.' }),
  ),
};

export const APIKey = Type.Object(properties, { $id: 'APIKey', description: 'A personal access token, without the token.' });

export const MintedAPIKey = Type.Object(
  { ...properties, token: Type.String({ description: 'The whole token. It is shown this once.' }) },
  { $id: 'MintedAPIKey', description: 'A new key with its token.' },
);

export const toApiKey = ({ expiresAt, parentId, ...document }: APIKeyDocument): Static<typeof APIKey> => ({
  id: document.id,
  name: document.name,
  prefix: document.prefix,
  role: document.role,
  scope: document.scope,
  createdAt: document.createdAt,
  ...(expiresAt !== undefined && { expiresAt }),
  ...(parentId !== undefined && { parentId }),
});

/** With when it was last used. */
export const toUsedApiKey = async (document: APIKeyDocument, keyUse: KeyUse): Promise<Static<typeof APIKey>> => {
  const lastUsedAt = await keyUse.lastUsedAt(document.id);
  return { ...toApiKey(document), ...(lastUsedAt !== undefined && { lastUsedAt }) };
};
