import type { ServiceKind } from '../../events/service/service.events.js';

export interface AttachService {
  readonly type: 'AttachService';
  readonly at: string;
  readonly websiteId: string;
  readonly serviceId: string;
  readonly kind: ServiceKind;
  readonly shopDomain?: string | undefined;
  readonly eventTypeIds?: readonly number[] | undefined;
  readonly siteId?: string | undefined;
  readonly secretNames: readonly string[];
}

export interface DetachService {
  readonly type: 'DetachService';
  readonly at: string;
  readonly websiteId: string;
  readonly serviceId: string;
}

/** The shop reports that the app was uninstalled. */
export interface RecordUninstall {
  readonly type: 'RecordUninstall';
  readonly at: string;
  readonly websiteId: string;
  readonly shopDomain: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly triggeredAt: string;
}

export type ServiceCommand = AttachService | DetachService | RecordUninstall;
