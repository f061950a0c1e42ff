import type { SiteValues } from '../../events/website/siteValues.js';
import type { Feature, Kept, Tier, WebsiteEvent } from '../../events/website/website.events.js';
import type { OfWebsite } from '../decider.js';

export interface CreateWebsite extends OfWebsite {
  readonly type: 'CreateWebsite';
  readonly name: string;
  readonly slug: string;
  readonly templateId: string;
  readonly tier: Tier;
  /** Default: all that the tier has. */
  readonly features?: readonly Feature[] | undefined;
  readonly brandColor?: string | undefined;
  readonly clientId?: string | undefined;
  readonly collaborators: readonly string[];
  readonly provisioningJobId: string;
}

export interface ChangeWebsite extends OfWebsite {
  readonly type: 'ChangeWebsite';
  readonly name?: string | undefined;
  /** `null`: the lowest, as of a new website. */
  readonly tier?: Tier | null | undefined;
  /** `null`: all of the tier, as of a new website. */
  readonly features?: readonly Feature[] | null | undefined;
  readonly slug?: string | undefined;
  /** Where in the log `slug` was reserved. */
  readonly reservationPosition?: bigint | undefined;
  /** `null`: none from now on. */
  readonly brandColor?: string | null | undefined;
  /** The owner; `null`: nobody from now on. */
  readonly clientId?: string | null | undefined;
  /**
   * Where in the log the offer was sent that this assignment carries out. Refused when an owner was
   * assigned since.
   */
  readonly offerPosition?: bigint | undefined;
}

type Activated = Extract<WebsiteEvent, { type: 'WebsiteActivated' }>['data'];

/** The deployment that is served, and the values that it was built with. */
interface Shown {
  readonly deploymentId: string;
  readonly values: SiteValues;
}

export type WebsiteCommand =
  | CreateWebsite
  | ChangeWebsite
  | (OfWebsite &
      (
        | {
            readonly type: 'ScheduleDeletion';
            /** What stays at the providers; absent: what a deletion that is scheduled keeps, else nothing. */
            readonly keep?: readonly Kept[] | undefined;
          }
        /** Deletes it when it is still due then. */
        | { readonly type: 'DeleteWebsite'; readonly purgeAt: string }
        /** `shown`: what its site was built with; absent: what it was created with. */
        | ({ readonly type: 'ActivateWebsite'; readonly shown?: Shown } & Activated)
        | ({ readonly type: 'RecordDeployment' } & Shown)
        /** Changes nothing unless that client is the owner. */
        | { readonly type: 'RemoveOwner'; readonly clientId: string }
        /** `slug`: what the website reserved and has not taken. */
        | { readonly type: 'AbandonWebsite'; readonly slug: string }
        | { readonly type: 'ArchiveWebsite' | 'RestoreWebsite' }
      ));

export type SlugCommand = OfWebsite & { readonly slug: string } & (
    | {
        readonly type: 'ReserveSlug';
        /** A website id that holds the slug and has abandoned it. */
        readonly abandonedBy?: string | undefined;
        /** What the website reserved before that position is reserved anew. Default: it holds. */
        readonly validFrom?: bigint | undefined;
      }
    /**
     * The website has another slug since `position`. Changes nothing when it reserved this one again
     * after that.
     */
    | { readonly type: 'ReleaseSlug'; readonly position: bigint; readonly reservedUntil: string }
    /** The website is gone. */
    | { readonly type: 'FreeSlug' }
  );
