/** The code of a system error (`ENOENT`, …), or undefined. */
export const systemErrorCode = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
