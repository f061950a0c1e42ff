/** What somebody saw of a delivery block, as far as this browser knows. */
export interface Look {
  /** The last one that they saw. */
  readonly revision: number;
  /** When, ISO 8601 UTC; absent where the service alone knows it. */
  readonly at?: string;
}

const isLook = (value: unknown): value is Look =>
  typeof value === 'object' &&
  value !== null &&
  'revision' in value &&
  typeof value.revision === 'number' &&
  (!('at' in value) || typeof value.at === 'string');

const keyOf = (websiteId: string, subject: string): string => `doorstep.look.${websiteId}.${subject}`;

export const readLook = (storage: Storage, websiteId: string, subject: string): Look | undefined => {
  const kept: unknown = JSON.parse(storage.getItem(keyOf(websiteId, subject)) ?? 'null');
  return isLook(kept) ? kept : undefined;
};

export const keepLook = (storage: Storage, websiteId: string, subject: string, look: Look): void => {
  storage.setItem(keyOf(websiteId, subject), JSON.stringify(look));
};

const receiptsKey = 'doorstep.readReceipts';

/** Whether the service is known to keep nothing of who saw what: it is not asked for it then. */
export const areReceiptsOff = (): boolean => localStorage.getItem(receiptsKey) === 'off';

export const keepReceipts = (kept: boolean): void => {
  if (kept) localStorage.removeItem(receiptsKey);
  else localStorage.setItem(receiptsKey, 'off');
};
