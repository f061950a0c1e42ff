import { accessProjection } from './access.projection.js';
import { apiKeyProjection } from './apiKey.projection.js';
import { calendarProjection } from './calendar.projection.js';
import { clientProjection } from './client.projection.js';
import { clientSubjectProjection } from './clientSubject.projection.js';
import { deliveryProjection } from './delivery.projection.js';
import type { AnyProjection } from './projection.js';
import { provisioningProjection } from './provisioning.projection.js';
import { seoProjection } from './seo.projection.js';
import { serviceProjection } from './service.projection.js';
import { websiteProjection } from './website.projection.js';

/** Every read model, for the projector, the rebuild and the status. */
export const projections: readonly AnyProjection[] = [
  websiteProjection,
  clientProjection,
  clientSubjectProjection,
  accessProjection,
  deliveryProjection,
  provisioningProjection,
  seoProjection,
  calendarProjection,
  serviceProjection,
  apiKeyProjection,
];
