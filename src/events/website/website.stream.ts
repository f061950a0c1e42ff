import { defineStream } from '../defineStream.js';
import { slugEvents, websiteEvents } from './website.events.js';

export const websiteStream = defineStream({
  category: 'website',
  key: ({ websiteId }: { readonly websiteId: string }) => websiteId,
  named: '<websiteId>',
  holds: 'creation, renaming, tier, features, owner, activation, archiving',
  guards: 'one owner; features within the tier',
  events: websiteEvents,
  personal: {},
});

export const slugStream = defineStream({
  category: 'slug',
  key: ({ slug }: { readonly slug: string }) => slug,
  named: '<slug>',
  holds: 'which website reserved the slug, or had it',
  guards: 'global uniqueness',
  events: slugEvents,
  personal: {},
  // The website that had it was deleted.
  retention: { days: 30, isEnd: ({ type, data }) => type === 'SlugReleased' && data.reservedUntil === undefined },
});
