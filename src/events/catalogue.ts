import { accessEvents } from './access/access.events.js';
import { apiKeyEvents } from './apiKey/apiKey.events.js';
import { billingEvents, customerEvents } from './billing/billing.events.js';
import { calendarEvents } from './booking/booking.events.js';
import { clientEmailEvents, clientEvents, clientSubjectEvents } from './client/client.events.js';
import { deliveryEvents } from './delivery/delivery.events.js';
import { logEvents } from './log/log.events.js';
import { mailEvents } from './invitationMail/invitationMail.events.js';
import { provisioningEvents } from './provisioning/provisioning.events.js';
import { redeployEvents } from './deployment/deployment.events.js';
import { seoEvents } from './seo/seo.events.js';
import { seoRunEvents } from './seoRun/seoRun.events.js';
import { serviceEvents } from './service/service.events.js';
import { slugEvents, websiteEvents } from './website/website.events.js';
import { webhookEvents } from './webhook/webhook.events.js';

/** Every event type that is ever stored. `test/events/catalogue.golden.json` holds what may never change. */
export const catalogue = {
  ...logEvents,
  ...websiteEvents,
  ...slugEvents,
  ...clientEvents,
  ...clientEmailEvents,
  ...clientSubjectEvents,
  ...accessEvents,
  ...customerEvents,
  ...billingEvents,
  ...deliveryEvents,
  ...provisioningEvents,
  ...mailEvents,
  ...redeployEvents,
  ...seoEvents,
  ...seoRunEvents,
  ...calendarEvents,
  ...serviceEvents,
  ...webhookEvents,
  ...apiKeyEvents,
};
