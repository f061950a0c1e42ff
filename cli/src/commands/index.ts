import type { Command } from '../command.js';
import { apiCommands } from './api.js';
import { programCommands } from './program.js';
import { websiteCommands } from './websites.js';

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [...websiteCommands, ...apiCommands, ...programCommands];
