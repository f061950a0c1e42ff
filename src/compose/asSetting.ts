import { SettingsError } from '../platform/settings.js';

/**
 * What an adapter finds wrong with its address, or the operating system with a folder or a port, is
 * the operator's to mend. Adapters tell nothing of what the address holds.
 */
export const asSetting = async <Store>(name: string, open: () => Store | Promise<Store>): Promise<Store> => {
  try {
    return await open();
  } catch (error) {
    throw new SettingsError([`${name}: ${(error as Error).message}`]);
  }
};
