import type { APIKeyEvent, DeviceGrantEvent, SubjectKeysEvent } from '../../events/apiKey/apiKey.events.js';
import {
  apiKeyFold,
  deviceGrantFold,
  subjectKeysFold,
  type APIKeyState,
  type DeviceGrantState,
  type SubjectKeysState,
} from '../../events/apiKey/apiKey.state.js';
import { hasExpired } from '../../platform/times.js';
import type { Decider } from '../decider.js';
import { refusals, type Refusal } from '../refusal.js';
import type { APIKeyCommand, ExchangeDeviceGrant, MintAPIKey, RevokeAPIKey, SubjectKeysCommand } from './apiKey.commands.js';

/** A key never exceeds what mints it: in role, in scope, in time. */
const mint = (command: MintAPIKey, state: APIKeyState): readonly APIKeyEvent[] | Refusal => {
  // The stream's name is derived from the token, so an existing key was made by this same command.
  if (state.stage !== 'none') return [];
  const { type: _type, key: _key, at, callerRole, verifiedEmail, userName, expiresAt, parent, ...data } = command;
  if (data.role === 'admin' && callerRole !== 'admin') return refusals.apiKeyRoleTooHigh();
  if (parent?.scope === 'read') return refusals.readOnlyToken();
  if (hasExpired(expiresAt, at)) return refusals.invalidBody('expiresAt', 'must be in the future');
  const end = expiresAt ?? parent?.expiresAt;
  if (parent?.expiresAt !== undefined && end !== undefined && Date.parse(end) > Date.parse(parent.expiresAt)) {
    return refusals.invalidBody('expiresAt', 'must not be later than the expiry of the token that mints the key');
  }
  return [
    {
      type: 'APIKeyMinted',
      data: {
        ...data,
        ...(verifiedEmail !== undefined && { verifiedEmail }),
        ...(userName !== undefined && { userName }),
        ...(end !== undefined && { expiresAt: end }),
        ...(parent !== undefined && { ancestorIds: [parent.id, ...parent.ancestorIds] }),
      },
    },
  ];
};

const revoke = ({ id, subject, callerRole }: RevokeAPIKey, state: APIKeyState): readonly APIKeyEvent[] | Refusal => {
  if (state.stage === 'none' || state.id !== id) return refusals.apiKeyNotFound(id);
  if (subject !== undefined && state.subject !== subject) return refusals.apiKeyNotFound(id);
  if (state.role === 'admin' && callerRole !== 'admin') return refusals.apiKeyNotFound(id);
  return state.stage === 'revoked' ? [] : [{ type: 'APIKeyRevoked', data: { id } }];
};

export const apiKeyDecider: Decider<APIKeyState, APIKeyCommand, APIKeyEvent> = {
  ...apiKeyFold,
  decide: (command, state) => {
    switch (command.type) {
      case 'MintAPIKey':
        return mint(command, state);
      case 'RevokeAPIKey':
        return revoke(command, state);
      default:
        return command satisfies never;
    }
  },
};

/** Live keys of one subject. */
const maxLiveKeys = 50;

/** How many keys of a subject may still be minted at `now` (ISO 8601 UTC). */
export const roomFor = ({ keys }: SubjectKeysState, now: string): number =>
  maxLiveKeys - keys.filter(({ expiresAt }) => !hasExpired(expiresAt, now)).length;

export const subjectKeysDecider: Decider<SubjectKeysState, SubjectKeysCommand, SubjectKeysEvent> = {
  ...subjectKeysFold,
  decide: (command, state) => {
    const counted = new Set(state.keys.map(({ id }) => id));
    switch (command.type) {
      case 'CountAPIKey': {
        const { id, ancestorIds, expiresAt } = command.key;
        if (counted.has(id)) return [];
        if (roomFor(state, command.at) <= 0) return refusals.tooManyApiKeys();
        const data = { id, ancestorIds: [...ancestorIds], ...(expiresAt !== undefined && { expiresAt }) };
        return [{ type: 'APIKeyCounted', data }];
      }
      case 'ReleaseAPIKeys': {
        const ids = command.ids.filter((id) => counted.has(id));
        return ids.length === 0 ? [] : [{ type: 'APIKeysReleased', data: { ids } }];
      }
      default:
        return command satisfies never;
    }
  },
};

export const deviceGrantDecider: Decider<DeviceGrantState, ExchangeDeviceGrant, DeviceGrantEvent> = {
  ...deviceGrantFold,
  decide: ({ apiKeyId }, state) => {
    if (state.stage === 'open') return [{ type: 'DeviceGrantExchanged', data: { apiKeyId } }];
    return state.apiKeyId === apiKeyId ? [] : refusals.deviceGrantExchanged();
  },
};
