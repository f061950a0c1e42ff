import { z } from 'zod';
import { tool } from '../tool.js';
import { ToolFault } from '../faults.js';
import { compact, ProvisioningView, toProvisioningView, toWebsiteView, WebsiteArgument, WebsiteView } from '../views.js';

/** `Corner Bakery` → `corner-bakery` */
const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, '-')
    .replace(/^-+/, '')
    .slice(0, 63)
    .replace(/-+$/, '');

export const createWebsite = tool({
  name: 'create_website',
  title: 'Create a website',
  description:
    'Create a website and wait until it is provisioned: repository, hosting, first deployment. Reports progress. Afterwards: give_access for the client, plan_delivery for dates.',
  toolset: 'provisioning',
  operations: ['createWebsite', 'followProvisioningJob', 'getWebsite', 'listTemplates'],
  callers: ['admin'],
  effect: 'adds',
  idempotent: false,
  openWorld: true,
  input: z.object({
    name: z.string().min(1).max(200),
    slug: z.string().max(63).optional().describe('Default: made from the name'),
    template: z.string().optional().describe('Id; an unknown one is answered with those that there are'),
    tier: z.enum(['starter', 'growth', 'scale']).optional(),
    wait: z.boolean().default(true).describe('Until provisioning ends'),
  }),
  output: z.object({ website: WebsiteView, provisioning: ProvisioningView.optional() }),
  run: async ({ doorstep, signal, progress }, { name, slug = slugOf(name), template, tier, wait }) => {
    if (template !== undefined) {
      const ids: string[] = [];
      for await (const { id } of doorstep.templates.list({ limit: 200 }, { signal })) ids.push(id);
      if (!ids.includes(template)) throw new ToolFault(`There is no template with this id. Use one of: ${ids.join(', ')}.`);
    }
    const created = await doorstep.websites.create({ name, slug, ...compact({ templateId: template, tier }) }, { signal });
    if (!wait)
      return {
        text: `${created.slug} is created; its provisioning has begun. website_status says how it goes.`,
        quotes: { name: created.name },
        data: { website: toWebsiteView(created) },
      };
    let last;
    for await (const job of doorstep.websites.provisioning.watch(created.id, { signal })) {
      last = job;
      const done = job.steps.filter(({ status }) => status === 'succeeded').length;
      const current = job.steps.find(({ status }) => status === 'running' || status === 'failed')?.id;
      // A step that runs is half of one: it is a notification of its own.
      await progress(done + (current === undefined ? 0 : 0.5), job.steps.length, current ?? job.status);
    }
    const website = await doorstep.websites.get(created.id, { signal });
    return {
      text:
        last?.status === 'failed'
          ? `${website.slug} is created, but its provisioning failed at ${toProvisioningView(last).step ?? 'an unknown step'}. When the cause is mended: retry_provisioning.`
          : `${website.slug} is created and ${website.status}${website.url === undefined ? '' : `: ${website.url}`}.`,
      quotes: { name: website.name, ...(last?.reason !== undefined && { reason: last.reason }) },
      data: { website: toWebsiteView(website), ...(last !== undefined && { provisioning: toProvisioningView(last) }) },
    };
  },
});

export const retryProvisioning = tool({
  name: 'retry_provisioning',
  title: 'Retry or clean up provisioning',
  description:
    'After a failed provisioning: retry goes on from the failed step and keeps what was made; clean_up removes the repository and hosting project that it made.',
  toolset: 'provisioning',
  operations: ['retryProvisioning', 'cleanUpProvisioning', 'getProvisioningJob'],
  callers: ['admin'],
  effect: 'destroys',
  idempotent: true,
  openWorld: true,
  input: z.object({ website: WebsiteArgument, action: z.enum(['retry', 'clean_up']) }),
  output: z.object({ slug: z.string(), provisioning: ProvisioningView }),
  run: async ({ doorstep, signal, confirm }, { website: named, action }) => {
    const { id, slug, name } = await doorstep.websites.findListed(named, { signal });
    if (action === 'retry') {
      const job = await doorstep.websites.provisioning.retry(id, {}, { signal });
      return {
        text: `The provisioning of ${slug} goes on. website_status says how it goes.`,
        data: { slug, provisioning: toProvisioningView(job) },
      };
    }
    await doorstep.websites.provisioning.cleanUp(id, { signal, dryRun: true });
    const { remains = [] } = await doorstep.websites.provisioning.get(id, { signal });
    const decision = await confirm({
      effects:
        remains.length === 0
          ? [`What the provisioning of ${slug} made is removed.`]
          : remains.map(({ kind }) => `The ${kind} that the provisioning of ${slug} made is removed for good.`),
      targets: [id, ...remains.map(({ id: made = '' }) => made)],
      quotes: { name, remains: remains.map(({ kind, name: made }) => compact({ kind, name: made })) },
    });
    if (!decision.confirmed) return decision;
    const job = await doorstep.websites.provisioning.cleanUp(id, { signal, idempotencyKey: decision.idempotencyKey('clean up') });
    return {
      text: `What the provisioning of ${slug} made is being removed.`,
      data: { slug, provisioning: toProvisioningView(job) },
    };
  },
});
