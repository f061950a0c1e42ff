import type { APIKeyEvent } from '../../events/apiKey/apiKey.events.js';
import type { APIKeyCommand, APIKeyScope } from './apiKey.commands.js';
import type { Decider } from '../decider.js';
import { refusals } from '../refusal.js';

/** Stream `api-key-<key>`. */
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

export const apiKeyDecider: Decider<APIKeyState, APIKeyCommand, APIKeyEvent> = {
  name: 'api-key',
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
  decide: (command, state) => {
    switch (command.type) {
      case 'MintAPIKey': {
        // The stream's name is made of the token, so an existing key is this very command's.
        if (state.stage !== 'none') return [];
        const { type: _type, at, callerRole, verifiedEmail, userName, expiresAt, ...data } = command;
        if (data.role === 'admin' && callerRole !== 'admin') return refusals.apiKeyRoleTooHigh();
        if (expiresAt !== undefined && Date.parse(expiresAt) <= Date.parse(at)) {
          return refusals.invalidBody('expiresAt', 'must be in the future');
        }
        return [
          {
            type: 'APIKeyMinted',
            data: {
              ...data,
              ...(verifiedEmail !== undefined && { verifiedEmail }),
              ...(userName !== undefined && { userName }),
              ...(expiresAt !== undefined && { expiresAt }),
            },
          },
        ];
      }
      case 'RevokeAPIKey': {
        const { id, subject } = command;
        if (state.stage === 'none' || state.id !== id || state.subject !== subject) return refusals.apiKeyNotFound(id);
        return state.stage === 'revoked' ? [] : [{ type: 'APIKeyRevoked', data: { id } }];
      }
      default:
        return command satisfies never;
    }
  },
};
