import type { SiteAnalytics } from '../../integrations/analytics/port.js';
import type { Outbox } from '../../integrations/email/port.js';
import type { FindSiteMedia } from '../../events/content/content.files.js';
import type { Hosting, SiteAddress, SitePreviews } from '../../integrations/hosting/port.js';
import type { IdentityProvider } from '../../integrations/identity/port.js';
import type { SourceHost } from '../../integrations/sourceHost/port.js';
import type { KeyedLimit } from '../../platform/keyedLimit.js';
import type { KeyUse } from '../auth/keyUse.js';
import type { Route } from '../route.js';
import { accessExplanationRoutes } from './access/accessExplanation.routes.js';
import { claimRoutes } from './access/claim.routes.js';
import { invitationRoutes } from './access/invitation.routes.js';
import { linkRoutes } from './access/link.routes.js';
import { analyticsRoutes } from './analytics/analytics.routes.js';
import { apiKeyRoutes } from './apiKey/apiKey.routes.js';
import { auditRoutes, type AuditRouteParts } from './audit/audit.routes.js';
import { billingRoutes, type BillingRouteParts } from './billing/billing.routes.js';
import { blueprintRoutes } from './blueprint/blueprint.routes.js';
import { bookingRoutes, type BookingRouteParts } from './booking/booking.routes.js';
import { changeRoutes, type ChangeRouteParts } from './change/change.routes.js';
import { clientExportRoutes } from './client/clientExport.routes.js';
import { clientRoutes, type ClientRouteParts } from './client/client.routes.js';
import { contentRoutes } from './content/content.routes.js';
import { publicationRoutes } from './content/publication.routes.js';
import { deliveryRoutes } from './delivery/delivery.routes.js';
import { deploymentRoutes } from './deployment/deployment.routes.js';
import type { Deployments } from './deployment/deployments.js';
import { documentRoutes, type DocumentRouteParts } from './document/document.routes.js';
import { domainRoutes, type DomainRouteParts } from './domain/domain.routes.js';
import { forecastRoutes } from './forecast/forecast.routes.js';
import { fileRoutes, type FileRouteParts } from './file/file.routes.js';
import { meRoutes } from './me/me.routes.js';
import { mediaRoutes, type MediaRouteParts } from './media/media.routes.js';
import { outboxRoutes } from './outbox/outbox.routes.js';
import { productRoutes } from './product/product.routes.js';
import { protectedResourceRoutes } from './protectedResource/protectedResource.routes.js';
import { provisioningRoutes } from './provisioning/provisioning.routes.js';
import { receiptRoutes } from './receipt/receipt.routes.js';
import { searchRoutes } from './search/search.routes.js';
import { seoRoutes } from './seo/seo.routes.js';
import { serviceRoutes } from './service/service.routes.js';
import { systemRoutes, type SystemRouteParts } from './system/system.routes.js';
import { templateRoutes } from './template/template.routes.js';
import { handoverRoutes } from './transfer/handover.routes.js';
import { transferRoutes } from './transfer/transfer.routes.js';
import { webhookRoutes, type WebhookRouteParts } from './webhook/webhook.routes.js';
import { websiteRoutes } from './website/website.routes.js';

export interface RouteParts
  extends
    SystemRouteParts,
    ChangeRouteParts,
    ClientRouteParts,
    BookingRouteParts,
    DocumentRouteParts,
    FileRouteParts,
    MediaRouteParts,
    BillingRouteParts,
    AuditRouteParts,
    DomainRouteParts,
    WebhookRouteParts {
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
  readonly deployments: Deployments;
  readonly siteAddress: SiteAddress;
  readonly previews: SitePreviews;
  readonly findMedia: FindSiteMedia;
  readonly limitSiteFiles: KeyedLimit;
  readonly analytics: SiteAnalytics;
  readonly keyUse: KeyUse;
  /** `null`: nobody can sign in, only tokens work. */
  readonly identityProvider: IdentityProvider | null;
  /** Whether it is kept who saw which revision of a delivery block. */
  readonly readReceipts: boolean;
  /** Present with the embedded e-mail sender. */
  readonly outbox?: Outbox;
}

/** Every route of the service, in the order of the OpenAPI document. */
export const createRoutes = (parts: RouteParts): readonly Route[] => {
  const routes: readonly Route[] = [
    ...meRoutes(parts),
    ...websiteRoutes(parts),
    ...changeRoutes(parts),
    ...searchRoutes(parts),
    ...templateRoutes(parts),
    ...linkRoutes(parts),
    ...invitationRoutes(parts),
    ...claimRoutes(parts),
    ...accessExplanationRoutes(parts, () => routes),
    ...transferRoutes(parts),
    ...handoverRoutes(parts),
    ...billingRoutes(parts),
    ...deliveryRoutes(parts),
    ...receiptRoutes(parts),
    ...forecastRoutes(parts),
    ...provisioningRoutes(parts),
    ...deploymentRoutes(parts),
    // Before the documents, of which none can have the name of a path of these.
    ...publicationRoutes(parts),
    ...contentRoutes(parts),
    ...analyticsRoutes(parts),
    ...seoRoutes(parts),
    ...documentRoutes(parts),
    ...mediaRoutes(parts),
    ...fileRoutes(parts),
    ...bookingRoutes(parts),
    ...serviceRoutes(parts),
    ...domainRoutes(parts),
    ...blueprintRoutes(parts),
    ...productRoutes(parts),
    ...webhookRoutes(parts),
    ...clientRoutes(parts),
    ...clientExportRoutes(parts),
    ...apiKeyRoutes(parts),
    ...auditRoutes(parts),
    ...outboxRoutes(parts),
    ...protectedResourceRoutes(parts),
  ];
  return [...routes, ...systemRoutes(parts, routes)];
};
