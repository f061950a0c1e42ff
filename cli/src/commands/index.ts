import type { Command } from '../command.js';
import { accessCommands } from './access.js';
import { apiCommands } from './api.js';
import { billingCommands } from './billing.js';
import { bookingCommands } from './bookings.js';
import { clientCommands } from './clients.js';
import { contentCommands } from './content.js';
import { deliveryCommands } from './delivery.js';
import { documentCommands } from './documents.js';
import { domainCommands } from './domains.js';
import { installationCommands } from './installation.js';
import { loginCommands } from './login.js';
import { mcpCommands } from './mcp.js';
import { mediaCommands } from './media.js';
import { programCommands } from './program.js';
import { provisioningCommands } from './provisioning.js';
import { reportCommands } from './reports.js';
import { serviceCommands } from './services.js';
import { websiteCommands } from './websites.js';

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  ...loginCommands,
  ...websiteCommands,
  ...clientCommands,
  ...accessCommands,
  ...deliveryCommands,
  ...provisioningCommands,
  ...documentCommands,
  ...mediaCommands,
  ...contentCommands,
  ...domainCommands,
  ...bookingCommands,
  ...serviceCommands,
  ...reportCommands,
  ...billingCommands,
  ...installationCommands,
  ...apiCommands,
  ...mcpCommands,
  ...programCommands,
];
