import type { DryRun } from '@doorstep/sdk';
import { z } from 'zod';
import { dayOf } from '../dates.js';
import { ToolFault } from '../faults.js';
import { tool } from '../tool.js';
import { compact, toWebsiteView, WebsiteArgument, WebsiteView } from '../views.js';

/** The features that a dry run says the website has no more. */
const featuresLost = (before: readonly string[], { events }: DryRun): readonly string[] => {
  const after = events.flatMap(({ data }) => ('features' in data ? [data.features as readonly string[]] : [])).at(-1);
  return after === undefined ? [] : before.filter((feature) => !after.includes(feature));
};

const keepable = ['repository', 'hosting'] as const;

/** `with its repository, hosting and content`, or `with its hosting and content; its repository stays`. */
const whatGoes = (kept: readonly (typeof keepable)[number][]): string => {
  const gone = [...keepable.filter((one) => !kept.includes(one)), 'content'];
  const stay = keepable.filter((one) => kept.includes(one));
  const left = stay.length === 0 ? '' : `; its ${stay.join(' and ')} ${stay.length > 1 ? 'stay' : 'stays'}`;
  return `with its ${new Intl.ListFormat('en-GB').format(gone)}${left}`;
};

export const changeWebsite = tool({
  name: 'change_website',
  title: 'Change, archive or delete a website',
  description:
    'Change name, slug, tier or colour of a website; archive it (the site is off, writes are refused), restore it, or delete an archived one (gone after 30 days). Archiving, deleting, a new slug and a tier with fewer features have to be confirmed.',
  toolset: 'provisioning',
  operations: ['changeWebsite', 'archiveWebsite', 'restoreWebsite', 'deleteWebsite'],
  callers: ['admin'],
  effect: 'destroys',
  idempotent: true,
  openWorld: true,
  input: z.object({
    website: WebsiteArgument,
    action: z.enum(['change', 'archive', 'restore', 'delete']),
    name: z.string().min(1).max(200).optional(),
    slug: z.string().max(63).optional(),
    tier: z.enum(['starter', 'growth', 'scale']).optional(),
    brandColor: z.string().optional().describe('#RRGGBB'),
    redeploy: z.boolean().optional().describe('So that the site shows the change'),
    keep: z.array(z.enum(keepable)).optional().describe('With delete: what stays at the providers'),
  }),
  output: z.object({ website: WebsiteView, redeployNeeded: z.boolean().optional() }),
  run: async ({ doorstep, signal, confirm }, { website: named, action, keep, ...changes }) => {
    const { websites } = doorstep;
    const { id, slug, name, tier, features, ...found } = await websites.findListed(named, { signal });
    const request = compact(changes);
    const given = Object.keys(request).filter((field) => field !== 'redeploy' || request.redeploy);
    if (action === 'change' && given.length === 0)
      throw new ToolFault('Nothing to change: give name, slug, tier, brandColor or redeploy.');
    if (action !== 'change' && given.length > 0)
      throw new ToolFault(`The action ${action} takes no ${given.join(', ')}: call change_website with the action change first.`);
    if (action !== 'delete' && keep !== undefined) throw new ToolFault(`The action ${action} takes no keep.`);
    const act = (options: { readonly dryRun?: boolean; readonly idempotencyKey?: string }) => {
      const all = { signal, ...options } as { signal: AbortSignal };
      switch (action) {
        case 'change':
          return websites.update(id, request, all);
        case 'archive':
          return websites.archive(id, all);
        case 'restore':
          return websites.restore(id, all);
        case 'delete':
          return websites.delete(id, { confirm: slug, ...(keep !== undefined && { keep: keep.join(',') }) }, all);
        default:
          return action satisfies never;
      }
    };
    const effects =
      action === 'archive'
        ? [`${slug} is archived: its site is not shown any more and writes are refused, until it is restored.`]
        : action === 'delete'
          ? [
              `${slug} is deleted for good ${found.purgeAt === undefined ? 'after 30 days' : `on ${dayOf(found.purgeAt)}`}, ${whatGoes(keep ?? found.keep ?? [])}. Until then it can be restored.`,
            ]
          : action === 'change' && changes.slug !== undefined && changes.slug !== slug
            ? [
                `${slug} gets another slug, and the tools know it by that one alone. Where this service serves its site, the site moves to the new address, and the former one leads there for 90 days; at other hosting its address stays.`,
              ]
            : [];
    if (effects.length > 0 || changes.tier !== undefined) {
      const lost = featuresLost(features, (await act({ dryRun: true })) as unknown as DryRun);
      if (lost.length > 0) effects.push(`${slug} goes from ${tier} to ${changes.tier ?? tier}: clients lose ${lost.join(', ')}.`);
    }
    let once = {};
    if (effects.length > 0) {
      const decision = await confirm({
        effects,
        targets: [id],
        quotes: { website: name, ...(action === 'change' && { changes: request }) },
      });
      if (!decision.confirmed) return decision;
      once = { idempotencyKey: decision.idempotencyKey(action) };
    }
    const website = await act(once);
    return {
      text: {
        change: `${website.slug} is changed${website.redeployNeeded === true ? '; its site shows it after publish_website' : ''}.`,
        archive: `${website.slug} is archived.`,
        restore: `${website.slug} is restored.`,
        delete: `${website.slug} is deleted for good on ${website.purgeAt === undefined ? 'its day' : dayOf(website.purgeAt)}, ${whatGoes(website.keep ?? [])}.`,
      }[action],
      quotes: { name: website.name },
      data: { website: toWebsiteView(website), ...(website.redeployNeeded === true && { redeployNeeded: true }) },
    };
  },
});
