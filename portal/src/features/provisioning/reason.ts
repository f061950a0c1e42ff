/** Why a run of the provisioning failed, without the step that the service names before it, as programs know that. */
export const withoutStep = (reason: string, step: string): string =>
  reason.startsWith(`${step}: `) ? reason.slice(step.length + 2) : reason;
