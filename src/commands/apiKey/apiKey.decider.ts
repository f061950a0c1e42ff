import type { APIKeyEvent } from '../../events/apiKey/apiKey.events.js';
import { apiKeyFold, type APIKeyState } from '../../events/apiKey/apiKey.state.js';
import type { Decider } from '../decider.js';
import { refusals } from '../refusal.js';
import type { APIKeyCommand } from './apiKey.commands.js';

export const apiKeyDecider: Decider<APIKeyState, APIKeyCommand, APIKeyEvent> = {
  ...apiKeyFold,
  decide: (command, state) => {
    switch (command.type) {
      case 'MintAPIKey': {
        // The stream's name is derived from the token, so an existing key was made by this same
        // command.
        if (state.stage !== 'none') return [];
        const { type: _type, key: _key, at, callerRole, verifiedEmail, userName, expiresAt, ...data } = command;
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
