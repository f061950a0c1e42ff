import type { ServiceKind } from '../../events/service/service.events.js';
import type { OfWebsite } from '../decider.js';

export interface AttachService extends OfWebsite {
  readonly type: 'AttachService';
  readonly serviceId: string;
  readonly kind: ServiceKind;
  readonly shopDomain?: string | undefined;
  readonly eventTypeIds?: readonly number[] | undefined;
  readonly siteId?: string | undefined;
  readonly secretNames: readonly string[];
}

export interface DetachService extends OfWebsite {
  readonly type: 'DetachService';
  readonly serviceId: string;
}

/** The shop reports that the app was uninstalled. */
export interface RecordUninstall extends OfWebsite {
  readonly type: 'RecordUninstall';
  readonly shopDomain: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly triggeredAt: string;
}

export type ServiceCommand = AttachService | DetachService | RecordUninstall;
