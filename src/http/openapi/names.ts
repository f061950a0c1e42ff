import { Type, type TSchema } from 'typebox';
import { InvitationKind, LinkRole } from '../../events/access/access.events.js';
import { DeliveryCheckpointStatus } from '../../events/delivery/delivery.events.js';
import { StepId } from '../../events/provisioning/provisioning.events.js';
import { SeoScanTrigger } from '../../events/seo/seo.events.js';
import { ServiceKind } from '../../events/service/service.events.js';
import { Feature, Tier } from '../../events/website/website.events.js';
import { invoiceStatuses, subscriptionStatuses } from '../../integrations/payments/port.js';
import {
  CheckpointId,
  ContentId,
  Currency,
  EmailAddress,
  HexColour,
  Ids,
  ShopDomain,
  Slug,
  SourceHostUsername,
  Timestamp,
} from '../schemas.js';

/**
 * Names of enums and forms of text that recur. Wherever a schema asks for the same, the document
 * refers to the name: a schema that is an object has its name as its `$id` instead.
 */
export const namedForms: Readonly<Record<string, { readonly schema: TSchema; readonly description: string }>> = {
  Timestamp: {
    schema: Timestamp({ examples: ['2030-01-31T12:00:00.000Z'] }),
    description: 'ISO 8601 with its offset; answers have UTC with milliseconds.',
  },
  EmailAddress: { schema: EmailAddress({ examples: ['ada@example.com'] }), description: 'An e-mail address.' },
  Slug: { schema: Slug({ examples: ['corner-bakery'] }), description: 'A DNS label: 1 to 63 of a–z, 0–9 and hyphens.' },
  HexColour: { schema: HexColour({ examples: ['#7a4b2a'] }), description: 'A colour as `#RRGGBB`.' },
  Currency: { schema: Currency({ examples: ['eur'] }), description: 'ISO 4217, in either case; answered in lower case.' },
  CheckpointId: { schema: CheckpointId({ examples: ['kickoff'] }), description: '1 to 64 letters, digits and dashes.' },
  ContentId: { schema: ContentId({ examples: ['site'] }), description: '1 to 64 letters, digits, dashes and underscores.' },
  Ids: { schema: Ids({ examples: ['01m8209kq7nsjmd7c7ae53aqtg'] }), description: 'Ids with commas between.' },
  ShopDomain: { schema: ShopDomain({ examples: ['corner-bakery.myshopify.com'] }), description: 'The shop’s own domain.' },
  SourceHostUsername: { schema: SourceHostUsername({ examples: ['ada'] }), description: 'A username on the source host.' },
  Role: { schema: LinkRole, description: 'What a linked client may do: `viewer` reads, `editor` also edits content.' },
  WayToWebsite: { schema: Type.Enum(['owner', 'link']), description: 'Whether a client owns a website, or was given access.' },
  AccountRole: { schema: Type.Enum(['admin', 'client']), description: 'An operator, or an end customer.' },
  ActorRole: { schema: Type.Enum(['admin', 'client', 'system']), description: 'As what somebody acted.' },
  TokenScope: { schema: Type.Enum(['read', 'write']), description: 'Whether a token may write.' },
  FileContent: {
    schema: Type.String({ format: 'binary', contentMediaType: 'application/octet-stream', examples: ['the bytes of the file'] }),
    description: 'A file of up to 100 MB. Its type is found by its content, whatever is said of it.',
  },
  Disposition: {
    schema: Type.Enum(['inline', 'attachment']),
    description: 'Whether a file is shown in the browser, or saved.',
  },
  MediaKind: { schema: Type.Enum(['image', 'video']), description: 'What a file of the media library is.' },
  Tier: { schema: Tier, description: 'Decides which features a website may have.' },
  Feature: { schema: Feature, description: 'A part of the service that a website has or has not.' },
  WebsiteStatus: { schema: Type.Enum(['provisioning', 'active']), description: '`active` once provisioning has finished.' },
  CheckpointStatus: { schema: DeliveryCheckpointStatus, description: 'How a checkpoint stands.' },
  InvitationKind: { schema: InvitationKind, description: 'To what the invitation is.' },
  InvitationStatus: {
    schema: Type.Enum(['pending', 'accepted', 'revoked', 'expired']),
    description: 'How an invitation stands.',
  },
  ServiceKind: { schema: ServiceKind, description: 'What a service of a website is for.' },
  ProvisioningStatus: {
    schema: Type.Enum(['queued', 'running', 'succeeded', 'failed']),
    description: 'How a provisioning run stands.',
  },
  StepId: { schema: StepId, description: 'A step of provisioning; they run in this order.' },
  StepStatus: { schema: Type.Enum(['pending', 'running', 'succeeded', 'failed']), description: 'How a step stands.' },
  DeploymentStatus: { schema: Type.Enum(['building', 'ready', 'failed']), description: 'How a deployment stands.' },
  ScanStatus: { schema: Type.Enum(['queued', 'running', 'completed', 'failed']), description: 'How a scan stands.' },
  ScanTrigger: { schema: SeoScanTrigger, description: 'What a scan was made for.' },
  BookingStatus: {
    schema: Type.Enum(['accepted', 'pending', 'cancelled', 'rejected']),
    description: 'How a booking stands.',
  },
  ProductStatus: {
    schema: Type.Enum(['active', 'archived', 'draft', 'unlisted']),
    description: 'Whether a product is sold.',
  },
  InvoiceStatus: { schema: Type.Enum([...invoiceStatuses]), description: 'How an invoice stands.' },
  SubscriptionStatus: { schema: Type.Enum([...subscriptionStatuses]), description: 'How a subscription stands.' },
};
