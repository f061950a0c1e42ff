import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import type { Clock } from '../../../platform/clock.js';
import type { EncryptedRecords } from './encryptedRecords.js';

/**
 * The storage of oidc-provider's sessions, interactions, grants, codes and refresh tokens.
 * @param alreadyUsed creates the error for a code or refresh token that was used before, in any
 * process
 */
export const createProviderAdapter =
  (records: EncryptedRecords, clock: Clock, alreadyUsed: () => Error): AdapterFactory =>
  (model): Adapter => {
    const find = async (id: string): Promise<AdapterPayload | undefined> =>
      ((await records.get(model, id)) as AdapterPayload | null) ?? undefined;

    const findBy = async (index: 'Uid' | 'UserCode', text: string): Promise<AdapterPayload | undefined> => {
      const found = (await records.get(`${model}${index}`, text)) as { id: string } | null;
      return found === null ? undefined : find(found.id);
    };

    const remainingMs = ({ exp }: AdapterPayload): number | undefined =>
      exp === undefined ? undefined : exp * 1_000 - clock.now();

    return {
      upsert: async (id, payload, lifeSeconds) => {
        const lifeMs = lifeSeconds === undefined ? undefined : lifeSeconds * 1_000;
        await records.put(model, id, payload, lifeMs);
        if (payload.userCode !== undefined) await records.put(`${model}UserCode`, payload.userCode, { id }, lifeMs);
        if (payload.uid !== undefined) await records.put(`${model}Uid`, payload.uid, { id }, lifeMs);
      },
      find,
      findByUid: (uid) => findBy('Uid', uid),
      findByUserCode: (userCode) => findBy('UserCode', userCode),
      consume: async (id) => {
        const payload = await find(id);
        if (payload === undefined) throw alreadyUsed();
        const lifeMs = remainingMs(payload);
        if (!(await records.insert(`${model}Used`, id, {}, lifeMs))) throw alreadyUsed();
        await records.put(model, id, { ...payload, consumed: Math.floor(clock.now() / 1_000) }, lifeMs);
      },
      destroy: (id) => records.delete(model, id),
      // Codes and refresh tokens are invalid without their grant, so deleting the grant is enough.
      revokeByGrantId: (grantId) => records.delete('Grant', grantId),
    };
  };
