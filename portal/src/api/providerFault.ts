import { DoorstepError } from '@doorstep/sdk';

const codes: readonly (string | undefined)[] = ['provider_refused', 'provider_unavailable', 'provider_timeout'];

/** Whether another service (hosting, payments, analytics) could not be asked: that says nothing about what it knows. */
export const isProviderFault = (error: unknown): boolean => error instanceof DoorstepError && codes.includes(error.code);
