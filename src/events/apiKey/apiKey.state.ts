import type { StreamFold } from '../fold.js';
import type { APIKeyEvent } from './apiKey.events.js';
import { apiKeyStream } from './apiKey.stream.js';

/** What a key lets its bearer do: everything that its role may, or reading only. */
export type APIKeyScope = 'read' | 'write';

export type APIKeyState =
  | { readonly stage: 'none' }
  | {
      readonly stage: 'active' | 'revoked';
      readonly id: string;
      readonly hash: string;
      readonly subject: string;
      readonly role: 'admin' | 'client';
      readonly scope: APIKeyScope;
      readonly verifiedEmail?: string;
      readonly userName?: string;
      readonly expiresAt?: string;
    };

export const apiKeyFold: StreamFold<APIKeyState, APIKeyEvent, { readonly key: string }> = {
  name: 'api-key',
  stream: apiKeyStream,
  initialState: { stage: 'none' },
  evolve: (state, event) => {
    switch (event.type) {
      case 'APIKeyMinted': {
        const { name: _name, prefix: _prefix, ...kept } = event.data;
        return { stage: 'active', ...kept };
      }
      case 'APIKeyRevoked':
        return state.stage === 'none' ? state : { ...state, stage: 'revoked' };
      default:
        return state;
    }
  },
};
