import { SettingsError } from '../platform/settings/environment.js';

/**
 * Reports a fault of an address, a folder or a port as an error in a setting, for the operator to
 * correct. The messages of adapters never contain the address, which may hold a password.
 */
export const asSetting = async <Store>(name: string, open: () => Store | Promise<Store>): Promise<Store> => {
  try {
    return await open();
  } catch (error) {
    throw new SettingsError([`${name}: ${(error as Error).message}`]);
  }
};
