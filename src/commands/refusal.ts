import type { Actor, JsonValue } from '../events/envelope.js';

/** Why something is refused; the entry mode maps it to its own terms (HTTP: `http/errors.ts`). */
export type RefusalKind = 'invalid' | 'conflict' | 'unauthenticated' | 'forbidden' | 'notFound';

/**
 * What is wrong with one field of a body, which is named with dots and indexes
 * (`checkpoints.3.id`).
 */
export type Violation = {
  readonly field: string;
  readonly issue: string;
};

/** A refusal is a value: deciders return it, `handleCommand` throws it on wrapped in `Refused`. */
export interface Refusal {
  readonly kind: RefusalKind;
  /** Stable, for programs: callers may branch on it. */
  readonly code: string;
  /** For people. */
  readonly message: string;
  readonly details?: JsonValue;
  /** The personal texts among the details, still encrypted: a stored refusal holds these. */
  readonly people?: readonly string[];
}

export class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** @throws Refused unless there is nothing to refuse */
export const throwIfRefused = (refusal: Refusal | null): void => {
  if (refusal !== null) throw new Refused(refusal);
};

/** Every code that a command or a route refuses with. A published code never changes. */
export const refusalKinds = {
  website_not_found: 'notFound',
  website_not_deployed: 'conflict',
  website_archived: 'conflict',
  website_not_archived: 'conflict',
  website_not_active: 'conflict',
  field_required: 'invalid',
  not_hex_colour: 'invalid',
  slug_taken: 'conflict',
  feature_not_on_tier: 'forbidden',
  feature_off: 'forbidden',
  client_not_found: 'notFound',
  client_email_taken: 'conflict',
  client_email_invited: 'conflict',
  already_owner: 'conflict',
  link_not_found: 'notFound',
  link_not_removed: 'conflict',
  link_removed_too_long_ago: 'conflict',
  invitation_not_found: 'notFound',
  invitation_not_expired: 'conflict',
  billing_not_set_up: 'notFound',
  invoice_not_found: 'notFound',
  invoice_settled: 'conflict',
  no_owner: 'conflict',
  owner_not_found: 'notFound',
  transfer_failed: 'conflict',
  transfer_not_found: 'notFound',
  not_your_invitation: 'forbidden',
  delivery_not_set_up: 'notFound',
  delivery_checkpoint_not_found: 'notFound',
  invalid_body: 'invalid',
  invalid_query: 'invalid',
  stale: 'conflict',
  provisioning_in_compensation: 'conflict',
  provisioning_not_failed: 'conflict',
  content_not_found: 'notFound',
  content_version_not_found: 'notFound',
  too_many_content_documents: 'conflict',
  content_limit_reached: 'conflict',
  preview_not_available: 'conflict',
  preview_not_built: 'conflict',
  publication_failed: 'conflict',
  document_not_found: 'notFound',
  document_deleted_too_long_ago: 'conflict',
  storage_limit_reached: 'conflict',
  too_many_media: 'conflict',
  file_address_lapsed: 'forbidden',
  media_not_found: 'notFound',
  media_deleted_too_long_ago: 'conflict',
  booking_not_found: 'notFound',
  bookings_elsewhere: 'conflict',
  calendar_full: 'conflict',
  service_not_found: 'notFound',
  domain_not_found: 'notFound',
  domain_taken: 'conflict',
  too_many_domains: 'conflict',
  commerce_not_set_up: 'notFound',
  invalid_signature: 'unauthenticated',
  other_shop: 'forbidden',
  api_key_not_found: 'notFound',
  api_key_role_too_high: 'forbidden',
  too_many_api_keys: 'conflict',
  device_grant_exchanged: 'conflict',
  not_authorized_for_website: 'forbidden',
  admin_required: 'forbidden',
  editor_required: 'unauthenticated',
  read_only_token: 'forbidden',
  read_only_token_for_mails: 'forbidden',
  missing_token: 'unauthenticated',
  no_authorization_header: 'unauthenticated',
  invalid_token: 'unauthenticated',
  stale_session: 'unauthenticated',
} as const satisfies Record<string, RefusalKind>;

export type RefusalCode = keyof typeof refusalKinds;

const refuse = (code: RefusalCode, message: string): Refusal => ({ kind: refusalKinds[code], code, message });

/** Of one field, with the message of the specification, which names the field first. */
const refuseField = (code: RefusalCode, field: string, issue: string): Refusal => ({
  ...refuse(code, `${field} ${issue}`),
  details: [{ field, issue }],
});

/** The refusal with everything else that is wrong with the body in its `details`. */
export const withViolations = (refusal: Refusal, others: readonly Violation[]): Refusal => {
  const own = Array.isArray(refusal.details) ? (refusal.details as readonly Violation[]) : [];
  const named = new Set(own.map(({ field }) => field));
  return { ...refusal, details: [...own, ...others.filter(({ field }) => !named.has(field))] };
};

/** Every refusal of the service, with the messages of the specification ("Errors") and of api.md. */
export const refusals = {
  websiteNotFound: (id: string) => refuse('website_not_found', `Website ${id} not found`),
  websiteNotDeployed: (id: string) => refuse('website_not_deployed', `Website ${id} has not been provisioned yet`),
  websiteArchived: (id: string) => refuse('website_archived', `Website ${id} is archived`),
  websiteNotArchived: (id: string) => refuse('website_not_archived', `Website ${id} is not archived: archive it first`),
  websiteNotActive: (id: string) => refuse('website_not_active', `Website ${id} is not active`),
  fieldRequired: (field: string) => refuseField('field_required', field, 'is required'),
  notHexColour: (field: string) => refuseField('not_hex_colour', field, 'must be #RRGGBB hex'),
  slugTaken: () => refuseField('slug_taken', 'slug', 'already exists'),
  featureNotOnTier: (feature: string, tier: string) =>
    refuse('feature_not_on_tier', `${feature} is not available on the ${tier} tier`),
  featureOff: (feature: string) => refuse('feature_off', `Website does not have the ${feature} feature enabled`),

  clientNotFound: (id: string) => refuse('client_not_found', `Client ${id} does not exist`),
  clientEmailTaken: () => refuse('client_email_taken', 'A client with this email already exists'),
  clientEmailInvited: () => refuse('client_email_invited', 'Somebody with this email is invited to a website'),
  alreadyOwner: () => refuse('already_owner', 'Client already owns this website'),
  linkNotFound: (clientId: string, websiteId: string) =>
    refuse('link_not_found', `Client ${clientId} is not linked to website ${websiteId}`),
  linkNotRemoved: (clientId: string, websiteId: string) =>
    refuse('link_not_removed', `The link of client ${clientId} to website ${websiteId} was not removed`),
  linkRemovedTooLongAgo: (clientId: string, websiteId: string) =>
    refuse(
      'link_removed_too_long_ago',
      `The link of client ${clientId} to website ${websiteId} was removed more than 30 days ago`,
    ),

  invitationNotFound: (id: string) => refuse('invitation_not_found', `Invitation ${id} not found`),
  invitationNotExpired: (id: string) => refuse('invitation_not_expired', `Invitation ${id} has not expired`),
  billingNotSetUp: (websiteId: string) => refuse('billing_not_set_up', `Billing for website ${websiteId} is not set up`),
  invoiceNotFound: (id: string) => refuse('invoice_not_found', `Invoice ${id} not found`),
  ownerNotFound: (websiteId: string) => refuse('owner_not_found', `Owner of website ${websiteId} not found`),
  /** `status`: `paid`, `void`, … */
  invoiceSettled: (id: string, status: string) => refuse('invoice_settled', `Invoice ${id} is ${status}`),
  noOwner: (websiteId: string) => refuse('no_owner', `Website ${websiteId} has no owner`),
  /** `message`: that of the fault. */
  transferFailed: (message: string) => refuse('transfer_failed', message),
  transferNotFound: () => refuse('transfer_not_found', 'Pending transfer not found'),
  /** @param signedInAs the caller's verified address, for the caller alone to read */
  notYourInvitation: (signedInAs?: string): Refusal => ({
    ...refuse('not_your_invitation', 'Not authorized to claim this invitation'),
    ...(signedInAs !== undefined && { details: { signedInAs } }),
  }),

  deliveryNotSetUp: (websiteId: string) => refuse('delivery_not_set_up', `Delivery for website ${websiteId} is not set up`),
  deliveryCheckpointNotFound: (id: string) => refuse('delivery_checkpoint_not_found', `Checkpoint ${id} not found`),
  /** The message names the first violation, `details` lists every one. */
  invalidBody: (field: string, issue: string, others: readonly Violation[] = []): Refusal => ({
    ...refuse('invalid_body', `Invalid request body — ${field}: ${issue}`),
    details: [{ field, issue }, ...others],
  }),
  /** Like `invalidBody`. */
  invalidQuery: (field: string, issue: string, others: readonly Violation[] = []): Refusal => ({
    ...refuse('invalid_query', `Invalid query — ${field}: ${issue}`),
    details: [{ field, issue }, ...others],
  }),
  /** `current`: what a document holds, and who saved that, where somebody has; `null`: nothing. */
  stale: (current?: { readonly hash: string; readonly at?: string; readonly actor?: Actor } | null): Refusal => ({
    ...refuse('stale', 'Someone else saved while you were editing'),
    ...(current !== undefined && {
      details: {
        currentHash: current?.hash ?? null,
        updatedAt: current?.at ?? null,
        updatedBy: current?.actor === undefined ? null : { ...current.actor },
      },
    }),
  }),

  contentNotFound: (id: string) => refuse('content_not_found', `Content ${id} not found`),
  tooManyContentDocuments: () => refuse('too_many_content_documents', 'Too many content documents'),
  contentLimitReached: () =>
    refuse('content_limit_reached', 'Content limit reached: the documents may have at most 10 MB together'),
  previewNotAvailable: (provider: string) => refuse('preview_not_available', `Drafts cannot be previewed on ${provider}`),
  /** `reason`: what is wrong with the site's files. */
  previewNotBuilt: (reason: string) => refuse('preview_not_built', `The draft cannot be built: ${reason}`),
  publicationFailed: (message: string) => refuse('publication_failed', message),
  contentVersionNotFound: (hash: string, id: string) =>
    refuse('content_version_not_found', `Version ${hash} of content ${id} not found`),

  provisioningInCompensation: (websiteId: string) =>
    refuse('provisioning_in_compensation', `What the provisioning of website ${websiteId} has left is being removed`),
  provisioningNotFailed: (websiteId: string) =>
    refuse('provisioning_not_failed', `Provisioning of website ${websiteId} has not failed`),

  documentNotFound: (id: string) => refuse('document_not_found', `Document ${id} not found`),
  documentDeletedTooLongAgo: (id: string) =>
    refuse('document_deleted_too_long_ago', `Document ${id} was deleted more than 30 days ago`),
  tooManyMedia: () => refuse('too_many_media', 'Too many images and videos'),
  storageLimitReached: (websiteId: string) => refuse('storage_limit_reached', `Storage limit of website ${websiteId} reached`),
  fileAddressLapsed: () => refuse('file_address_lapsed', 'This address is not valid any more: ask for a new one'),
  mediaNotFound: (id: string) => refuse('media_not_found', `Image or video ${id} not found`),
  mediaDeletedTooLongAgo: (id: string) =>
    refuse('media_deleted_too_long_ago', `Image or video ${id} was deleted more than 30 days ago`),

  bookingNotFound: (id: string) => refuse('booking_not_found', `Booking ${id} not found`),
  bookingsElsewhere: (provider: string) => refuse('bookings_elsewhere', `Bookings are made and cancelled in ${provider}`),
  calendarFull: () => refuse('calendar_full', 'The calendar is full'),

  domainNotFound: () => refuse('domain_not_found', 'Domain not found'),
  /** `proof`: the record that would prove that it is the caller's, where nobody has proved that it is theirs. */
  domainTaken: (proof?: { readonly name: string; readonly value: string }): Refusal => {
    const refusal = refuseField('domain_taken', 'domain', 'already exists');
    if (proof === undefined) return refusal;
    const issue = `already exists; to take it over, set the TXT record ${proof.name} to ${proof.value} and add it again`;
    return { ...refusal, details: [{ field: 'domain', issue }] };
  },
  tooManyDomains: () => refuse('too_many_domains', 'Too many domains'),

  serviceNotFound: (id: string) => refuse('service_not_found', `Service ${id} not found`),
  commerceNotSetUp: (websiteId: string) => refuse('commerce_not_set_up', `Commerce for website ${websiteId} is not set up`),
  invalidSignature: () => refuse('invalid_signature', 'Invalid signature'),
  otherShop: () => refuse('other_shop', 'Not authorized to deliver webhooks for this website'),

  apiKeyNotFound: (id: string) => refuse('api_key_not_found', `API key ${id} not found`),
  apiKeyRoleTooHigh: () => refuse('api_key_role_too_high', 'Not authorized to mint an API key with the admin role'),
  tooManyApiKeys: () => refuse('too_many_api_keys', 'Too many API keys'),
  deviceGrantExchanged: () =>
    refuse(
      'device_grant_exchanged',
      'This sign-in of a device was already exchanged for an API key: sign in on the device again',
    ),

  /** `reason`: why somebody with access may not do this. */
  notAuthorizedForWebsite: (id: string, reason?: string): Refusal => ({
    ...refuse('not_authorized_for_website', `Not authorized to access website ${id}`),
    ...(reason !== undefined && { details: { reason } }),
  }),
  adminRequired: () => refuse('admin_required', 'Admin role required'),
  /** The one authorization failure that answers 401 (specification, "Authentication", rule 3). */
  editorRequired: () => refuse('editor_required', 'Editor role required'),
  readOnlyToken: () => refuse('read_only_token', 'Not authorized to write with a read-only token'),
  readOnlyTokenForMails: () => refuse('read_only_token_for_mails', 'Not authorized to read mails with a read-only token'),
  missingToken: () => refuse('missing_token', 'Missing token'),
  noAuthorizationHeader: () => refuse('no_authorization_header', 'No Authorization header'),
  /** `hint`: what to do instead. */
  invalidToken: (hint?: string): Refusal => ({
    ...refuse('invalid_token', 'Invalid token'),
    ...(hint !== undefined && { details: { hint } }),
  }),
  staleSession: () => refuse('stale_session', 'Your session is stale'),
} as const satisfies Record<string, (...parts: never[]) => Refusal>;
