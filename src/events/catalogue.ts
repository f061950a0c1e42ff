import { accessStream } from './access/access.stream.js';
import { apiKeyStream, deviceGrantStream, subjectKeysStream } from './apiKey/apiKey.stream.js';
import { billingStream, customerStream } from './billing/billing.stream.js';
import { blueprintStream } from './blueprint/blueprint.stream.js';
import { bookingStream } from './booking/booking.stream.js';
import { clientEmailStream, clientStream, clientSubjectStream } from './client/client.stream.js';
import { contentStream } from './content/content.stream.js';
import type { EventDefinitions, StreamDefinition } from './defineStream.js';
import { deletionStream } from './deletion/deletion.stream.js';
import { deliveryStream } from './delivery/delivery.stream.js';
import { documentStream } from './document/document.stream.js';
import { redeployStream } from './deployment/deployment.stream.js';
import { deploymentLeaseStream } from './deployment/deploymentLease.stream.js';
import { domainStream } from './domain/domain.stream.js';
import { invitationMailStream } from './invitationMail/invitationMail.stream.js';
import { logStream } from './log/log.stream.js';
import { mediaStream } from './media/media.stream.js';
import { noticeMailStream } from './noticeMail/noticeMail.stream.js';
import { previewStream } from './preview/preview.stream.js';
import { provisioningStream } from './provisioning/provisioning.stream.js';
import { publicationStream } from './publication/publication.stream.js';
import { pushStream } from './push/push.stream.js';
import { receiptStream } from './receipt/receipt.stream.js';
import { reactionStream } from './reaction/reaction.stream.js';
import { seoStream } from './seo/seo.stream.js';
import { seoRunStream } from './seoRun/seoRun.stream.js';
import { servicesStream } from './service/service.stream.js';
import { siteStream } from './site/site.stream.js';
import { viewingStream } from './viewing/viewing.stream.js';
import { webhookContentStream, webhookStream } from './webhook/webhook.stream.js';
import { slugStream, websiteStream } from './website/website.stream.js';

/** Every kind of stream, in the order in which documentation lists them. */
export const streams: readonly StreamDefinition[] = [
  logStream,
  websiteStream,
  slugStream,
  clientStream,
  clientEmailStream,
  clientSubjectStream,
  accessStream,
  billingStream,
  customerStream,
  deliveryStream,
  receiptStream,
  provisioningStream,
  invitationMailStream,
  noticeMailStream,
  redeployStream,
  deploymentLeaseStream,
  siteStream,
  deletionStream,
  pushStream,
  publicationStream,
  previewStream,
  contentStream,
  seoStream,
  seoRunStream,
  bookingStream,
  documentStream,
  mediaStream,
  servicesStream,
  domainStream,
  blueprintStream,
  webhookStream,
  webhookContentStream,
  reactionStream,
  apiKeyStream,
  subjectKeysStream,
  deviceGrantStream,
  viewingStream,
];

/**
 * Every event type that is stored. `test/events/catalogue.golden.json` records what may never
 * change.
 */
export const catalogue: EventDefinitions = Object.assign({}, ...streams.map(({ events }) => events)) as EventDefinitions;

/**
 * Where events hold personal data, by type: encrypted (`platform/personal.ts`), as the actor's
 * subject is when it contains an address.
 */
export const personalFields: Readonly<Record<string, readonly string[]>> = Object.assign(
  {},
  ...streams.map(({ personal }) => personal),
) as Record<string, readonly string[]>;
