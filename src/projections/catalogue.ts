import { accessProjection } from './access/access.projection.js';
import { apiKeyProjection } from './apiKey/apiKey.projection.js';
import { auditProjection } from './audit/audit.projection.js';
import { billingProjection } from './billing/billing.projection.js';
import { bookingProjection } from './booking/booking.projection.js';
import { clientProjection } from './client/client.projection.js';
import { clientSearchProjection } from './client/clientSearch.projection.js';
import { clientSubjectProjection } from './client/clientSubject.projection.js';
import { contentProjection } from './content/content.projection.js';
import { contentSizesProjection } from './content/contentSizes.projection.js';
import { deliveryProjection } from './delivery/delivery.projection.js';
import { documentProjection } from './document/document.projection.js';
import { domainProjection } from './domain/domain.projection.js';
import { forecastProjection } from './forecast/forecast.projection.js';
import { mediaProjection } from './media/media.projection.js';
import type { AnyProjection } from './projection.js';
import { parkedWorkProjection } from './parkedWork/parkedWork.projection.js';
import { provisioningProjection } from './provisioning/provisioning.projection.js';
import { receiptProjection } from './receipt/receipt.projection.js';
import { seoProjection } from './seo/seo.projection.js';
import { serviceProjection } from './service/service.projection.js';
import { overviewProjection } from './website/overview.projection.js';
import { websiteProjection } from './website/website.projection.js';

/** Every projection, for the projector, the rebuild and the status. */
export const projections: readonly AnyProjection[] = [
  websiteProjection,
  overviewProjection,
  clientProjection,
  clientSearchProjection,
  clientSubjectProjection,
  accessProjection,
  deliveryProjection,
  receiptProjection,
  contentProjection,
  contentSizesProjection,
  forecastProjection,
  provisioningProjection,
  billingProjection,
  seoProjection,
  bookingProjection,
  documentProjection,
  mediaProjection,
  serviceProjection,
  domainProjection,
  apiKeyProjection,
  auditProjection,
  parkedWorkProjection,
];
