import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Where this program keeps its files: `$XDG_CONFIG_HOME/doorstep`, else the folder that the system
 * has for that.
 */
export const configFolder = (environment: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string => {
  const { XDG_CONFIG_HOME: xdg = '', APPDATA: appData = '' } = environment;
  if (xdg !== '') return join(xdg, 'doorstep');
  const home = environment.HOME ?? homedir();
  if (platform === 'win32') return join(appData === '' ? join(home, 'AppData', 'Roaming') : appData, 'doorstep');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'doorstep');
  return join(home, '.config', 'doorstep');
};
