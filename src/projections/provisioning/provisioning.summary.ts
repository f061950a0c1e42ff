import type { ProvisioningDocument, ProvisioningStep } from './provisioning.projection.js';

/** What a list says of the latest provisioning job. */
export interface ProvisioningSummary {
  readonly status: ProvisioningDocument['status'];
  /** The step that runs, failed or comes next; absent once all have succeeded. */
  readonly step?: ProvisioningStep['id'];
  /** At that step. */
  readonly attempts?: number;
  readonly reason?: string;
}

export const summaryOfProvisioning = ({ status, steps, reason }: ProvisioningDocument): ProvisioningSummary => {
  const step = steps.find((one) => one.status !== 'succeeded');
  return {
    status,
    ...(step !== undefined && { step: step.id, attempts: step.attempts }),
    ...(reason !== undefined && { reason }),
  };
};
