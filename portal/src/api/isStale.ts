import { DoorstepError } from '@doorstep/sdk';

/** Whether somebody else saved first. */
export const isStale = (error: unknown): boolean => error instanceof DoorstepError && error.code === 'stale';
