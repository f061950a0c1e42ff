import type { JsonValue } from '../events/envelope.js';

/** Why something is refused; the entry mode maps it to its own terms (HTTP: `http/errors.ts`). */
export type RefusalCode = 'invalid' | 'conflict' | 'unauthenticated' | 'forbidden' | 'notFound';

/** What is wrong with one field of a body, which is named with dots and indexes (`checkpoints.3.id`). */
export type Violation = {
  readonly field: string;
  readonly issue: string;
};

/** A refusal is a value: deciders return it, `handleCommand` throws it on wrapped in `Refused`. */
export interface Refusal {
  readonly refused: RefusalCode;
  readonly message: string;
  readonly details?: JsonValue;
}

export class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

const refuse = (refused: RefusalCode, message: string): Refusal => ({ refused, message });

/** Every refusal of the service, in the words of the specification ("Errors") and of api.md. */
export const refusals = {
  websiteNotFound: (id: string) => refuse('notFound', `Website ${id} not found`),
  websiteNotDeployed: (id: string) => refuse('conflict', `Website ${id} has not been provisioned yet`),
  websiteArchived: (id: string) => refuse('conflict', `Website ${id} is archived`),
  websiteNotActive: (id: string) => refuse('conflict', `Website ${id} is not active`),
  fieldRequired: (field: string) => refuse('invalid', `${field} is required`),
  notHexColour: (field: string) => refuse('invalid', `${field} must be #RRGGBB hex`),
  slugTaken: () => refuse('conflict', 'slug already exists'),
  featureNotOnTier: (feature: string, tier: string) => refuse('forbidden', `${feature} is not available on the ${tier} tier`),
  featureOff: (feature: string) => refuse('forbidden', `Website does not have the ${feature} feature enabled`),

  clientNotFound: (id: string) => refuse('notFound', `Client ${id} does not exist`),
  clientEmailTaken: () => refuse('conflict', 'A client with this email already exists'),
  alreadyOwner: () => refuse('conflict', 'Client already owns this website'),
  linkNotFound: (clientId: string, websiteId: string) =>
    refuse('notFound', `Client ${clientId} is not linked to website ${websiteId}`),

  invitationNotFound: (id: string) => refuse('notFound', `Invitation ${id} not found`),
  billingNotSetUp: (websiteId: string) => refuse('notFound', `Billing for website ${websiteId} is not set up`),
  invoiceNotFound: (id: string) => refuse('notFound', `Invoice ${id} not found`),
  noOwner: (websiteId: string) => refuse('conflict', `Website ${websiteId} has no owner`),
  transferNotFound: () => refuse('notFound', 'Pending transfer not found'),
  notYourInvitation: () => refuse('forbidden', 'Not authorized to claim this invitation'),

  deliveryNotSetUp: (websiteId: string) => refuse('notFound', `Delivery for website ${websiteId} is not set up`),
  deliveryCheckpointNotFound: (id: string) => refuse('notFound', `Checkpoint ${id} not found`),
  /** The message names the first violation, `details` lists every one. */
  invalidBody: (field: string, issue: string, others: readonly Violation[] = []): Refusal => ({
    refused: 'invalid',
    message: `Invalid request body — ${field}: ${issue}`,
    details: [{ field, issue }, ...others],
  }),
  invalidQuery: (field: string, issue: string): Refusal => ({
    refused: 'invalid',
    message: `Invalid query — ${field}: ${issue}`,
    details: [{ field, issue }],
  }),
  stale: () => refuse('conflict', 'Someone else saved while you were editing'),

  provisioningInCleanup: (websiteId: string) =>
    refuse('conflict', `What the provisioning of website ${websiteId} has left is being removed`),
  provisioningNotFailed: (websiteId: string) => refuse('conflict', `Provisioning of website ${websiteId} has not failed`),

  bookingNotFound: (id: string) => refuse('notFound', `Booking ${id} not found`),
  bookingsElsewhere: (provider: string) => refuse('conflict', `Bookings are made and cancelled in ${provider}`),
  calendarFull: () => refuse('conflict', 'The calendar is full'),

  serviceNotFound: (id: string) => refuse('notFound', `Service ${id} not found`),
  commerceNotSetUp: (websiteId: string) => refuse('notFound', `Commerce for website ${websiteId} is not set up`),
  invalidSignature: () => refuse('unauthenticated', 'Invalid signature'),
  otherShop: () => refuse('forbidden', 'Not authorized to deliver webhooks for this website'),

  apiKeyNotFound: (id: string) => refuse('notFound', `API key ${id} not found`),
  apiKeyRoleTooHigh: () => refuse('forbidden', 'Not authorized to mint an API key with the admin role'),

  notAuthorizedForWebsite: (id: string) => refuse('forbidden', `Not authorized to access website ${id}`),
  adminRequired: () => refuse('forbidden', 'Admin role required'),
  /** The one authorization failure that answers 401 (specification, "Authentication", rule 3). */
  editorRequired: () => refuse('unauthenticated', 'Editor role required'),
  ownerRequired: (websiteId: string) => refuse('forbidden', `Not authorized to access website ${websiteId}`),
  readOnlyToken: () => refuse('forbidden', 'Not authorized to write with a read-only token'),
  readOnlyTokenForMails: () => refuse('forbidden', 'Not authorized to read mails with a read-only token'),
  missingToken: () => refuse('unauthenticated', 'Missing token'),
  noAuthorizationHeader: () => refuse('unauthenticated', 'No Authorization header'),
  invalidToken: () => refuse('unauthenticated', 'Invalid token'),
  staleSession: () => refuse('unauthenticated', 'Your session is stale'),
} as const satisfies Record<string, (...parts: never[]) => Refusal>;
