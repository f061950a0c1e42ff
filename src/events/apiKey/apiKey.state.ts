import { hasExpired } from '../../platform/times.js';
import type { Actor } from '../envelope.js';
import type { StreamFold } from '../fold.js';
import type { APIKeyEvent, DeviceGrantEvent, SubjectKeysEvent } from './apiKey.events.js';
import { apiKeyStream, deviceGrantStream, subjectKeysStream } from './apiKey.stream.js';

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
      /** Ids of the keys that it stands on, from the one that minted it up. */
      readonly ancestorIds: readonly string[];
      /** How its minter came in. */
      readonly mintedVia: Actor['via'];
    };

export const apiKeyFold: StreamFold<APIKeyState, APIKeyEvent, { readonly key: string }> = {
  name: 'api-key',
  stream: apiKeyStream,
  initialState: { stage: 'none' },
  evolve: (state, event) => {
    switch (event.type) {
      case 'APIKeyMinted': {
        const { name: _name, prefix: _prefix, ancestorIds = [], ...kept } = event.data;
        return { stage: 'active', ...kept, ancestorIds, mintedVia: event.metadata.actor.via };
      }
      case 'APIKeyRevoked':
        return state.stage === 'none' ? state : { ...state, stage: 'revoked' };
      default:
        return state;
    }
  },
};

/** A key that counts against its subject's limit until it expires. */
export interface CountedKey {
  readonly id: string;
  readonly expiresAt?: string;
  readonly ancestorIds: readonly string[];
}

export interface SubjectKeysState {
  readonly keys: readonly CountedKey[];
}

export const subjectKeysFold: StreamFold<SubjectKeysState, SubjectKeysEvent, { readonly subjectIndex: string }> = {
  name: 'subject-keys',
  snapshotVersion: 1,
  stream: subjectKeysStream,
  initialState: { keys: [] },
  evolve: ({ keys }, event) => {
    switch (event.type) {
      case 'APIKeyCounted':
        // Expired ones go, because the state would grow with each short-lived key.
        return { keys: [...keys.filter(({ expiresAt }) => !hasExpired(expiresAt, event.metadata.at)), event.data] };
      case 'APIKeysReleased':
        return { keys: keys.filter(({ id }) => !event.data.ids.includes(id)) };
      default:
        return event satisfies never;
    }
  },
};

export type DeviceGrantState = { readonly stage: 'open' } | { readonly stage: 'exchanged'; readonly apiKeyId: string };

export const deviceGrantFold: StreamFold<DeviceGrantState, DeviceGrantEvent, { readonly grantIndex: string }> = {
  name: 'device-grant',
  stream: deviceGrantStream,
  initialState: { stage: 'open' },
  evolve: (_state, event) => ({ stage: 'exchanged', apiKeyId: event.data.apiKeyId }),
};
