import { expect, test } from '@jest/globals';
import { streams } from '../../src/events/catalogue.js';
import { changeTypes } from '../../src/http/routes/change/change.areas.js';

/** Streams that hold nothing but the bookkeeping of processes, or what no route shows. */
const untold = [
  'doorstep',
  'slug',
  'client-email',
  'client-subject',
  'customer',
  'invitation-mail',
  'notice-mail',
  'deployment-lease',
  'deletion',
  'seo-run',
  'webhook',
  'webhook-content',
  'reaction',
  'subject-keys',
  'device-grant',
  'viewing',
  'preview',
];

/** The bookkeeping in the other streams: no answer shows these, or what they belong to follows at once. */
const untoldTypes = [
  'WebsiteSlugForgone',
  'WebsiteCreationAbandoned',
  'TransferSubscriptionNamed',
  'ClientLinkNoticeRequested',
  'BillingAttemptStarted',
  'BillingLeaseRenewed',
  'BillingAttemptFailed',
  'SubscriptionRequested',
  'AttachmentRequested',
  'InvoiceVoidRequested',
  'ProvisioningLeaseRenewed',
  'ProvisioningRequestsAnswered',
  'ProvisioningCompensationStarted',
  'ProvisioningCompensationLeaseRenewed',
  'SiteUpdateReopened',
  'SiteUpdateStarted',
  'SiteUpdateLeaseRenewed',
  'SiteVariablesSet',
  'SiteServingChanged',
  'PublicationStarted',
  'PublicationLeaseRenewed',
  'PublicationCommitted',
  'SeoScanLeaseRenewed',
  'SeoScanAttemptFailed',
  'DocumentPurged',
  'MediaPurged',
];

test('every event is told, or kept back on purpose (change.areas.ts, or `untold` and `untoldTypes` here)', () => {
  const keptBack = streams.flatMap(({ category, events }) => {
    const types = Object.keys(events).filter((type) => !changeTypes.has(type));
    return types.length > 0 && types.length === Object.keys(events).length ? [category] : types;
  });
  expect(keptBack.toSorted()).toStrictEqual([...untold, ...untoldTypes].sort());
});

test('leases, attempts and mails are told to nobody', () => {
  expect([...changeTypes].filter((type) => /Lease|Attempt|Mail/.test(type))).toStrictEqual([]);
});
