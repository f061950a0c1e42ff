import { toQuery, type PageRequest } from '../page.js';
import type { Reader } from '../reader.js';
import type { ListedDocument } from '../runner/readList.js';
import { receiptProjection, type ReceiptDocument } from './receipt.projection.js';

/** Who looked at the delivery block of a website, one document for each person. */
export const listReceipts = (
  reader: Reader,
  websiteId: string,
  page: PageRequest,
): Promise<readonly ListedDocument<ReceiptDocument>[]> =>
  reader.list(receiptProjection, { where: { websiteId }, ...toQuery(page) });

/** How many people looked at the delivery block of a website. */
export const countReceipts = (reader: Reader, websiteId: string): Promise<number> =>
  reader.count(receiptProjection, { where: { websiteId } });
