import type { Engine } from '../../engine.js';
import { entityId } from '../../platform/ids.js';
import type { CommandContext } from '../handleCommand.js';
import { Refused, refusals } from '../refusal.js';
import type { Untimed } from '../decider.js';
import type { AttachService } from './service.commands.js';
import { serviceDecider } from './service.decider.js';

type Writing = Pick<Engine, 'handle' | 'vault'>;

/**
 * Attaches a service in place of the one of its kind. Its secrets are in the vault before the event
 * is appended; the secrets of the replaced service are deleted.
 * @returns the service's id, and the revision that the command left the stream at
 */
export const attachService = async (
  { handle, vault }: Writing,
  input: Omit<Untimed<AttachService>, 'type' | 'serviceId' | 'secretNames'>,
  secrets: Readonly<Record<string, string>>,
  context: CommandContext,
): Promise<{ readonly serviceId: string; readonly revision: bigint }> => {
  const serviceId = entityId(context.commandId, 'service');
  const secretNames = Object.keys(secrets);
  if (secretNames.length > 0) await vault.storeSecret(serviceId, Buffer.from(JSON.stringify(secrets)));
  const command = { type: 'AttachService', serviceId, secretNames, ...input } as const;
  const { events, revision } = await handle(serviceDecider, command, context);
  for (const { type, data } of events) if (type === 'ServiceDetached') await vault.deleteSecret(data.serviceId);
  return { serviceId, revision };
};

/**
 * Detaches a service, and deletes its secrets.
 * @throws Refused: `Service <id> not found`, also when it was detached before
 */
export const detachService = async (
  { handle, vault }: Writing,
  { websiteId, serviceId }: { websiteId: string; serviceId: string },
  context: CommandContext,
): Promise<void> => {
  const command = { type: 'DetachService', websiteId, serviceId } as const;
  const { events } = await handle(serviceDecider, command, context);
  await vault.deleteSecret(serviceId);
  if (events.length === 0) throw new Refused(refusals.serviceNotFound(serviceId));
};

/**
 * The secrets of a service by name; `{}` when they were deleted.
 * @throws faults of the vault
 */
export const secretsOf = async (
  { vault }: Pick<Engine, 'vault'>,
  serviceId: string,
): Promise<Readonly<Record<string, string>>> => {
  const secrets = await vault.secret(serviceId);
  return secrets === null ? {} : (JSON.parse(Buffer.from(secrets).toString()) as Record<string, string>);
};
