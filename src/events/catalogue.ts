import { accessEvents } from './access.events.js';
import { apiKeyEvents } from './apiKey.events.js';
import { billingEvents, customerEvents } from './billing.events.js';
import { calendarEvents } from './calendar.events.js';
import { clientEmailEvents, clientEvents, clientSubjectEvents } from './client.events.js';
import { deliveryEvents } from './delivery.events.js';
import { logEvents } from './log.events.js';
import { mailEvents } from './mail.events.js';
import { provisioningEvents } from './provisioning.events.js';
import { redeployEvents } from './redeploy.events.js';
import { seoEvents } from './seo.events.js';
import { seoRunEvents } from './seoRun.events.js';
import { serviceEvents } from './service.events.js';
import { slugEvents, websiteEvents } from './website.events.js';
import { webhookEvents } from './webhook.events.js';

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
