import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createPreviews, type Preview } from '../../src/http/routes/delivery/preview.js';
import { ProviderFault } from '../../src/integrations/fault.js';
import type { Deployment, Hosting } from '../../src/integrations/hosting/port.js';
import type { WebsiteDocument } from '../../src/projections/website/website.projection.js';
import { content } from '../support/delivery.js';
import { blockOf, startDeliveryApi, type DeliveryApi } from '../support/deliveryApi.js';
import { earlier } from '../support/given.js';
import { createTestClock } from '../support/testClock.js';
import { createProvisioningWorker } from '../../src/workers/provisioning/provisioningWorker.js';
import { eventually } from '../support/eventually.js';
import { partsOf } from '../support/process.js';
import { createRemote, permanentFault, providersOn, type Line } from '../workers/remote.js';

const deployment: Deployment = { id: 'd1', status: 'ready', url: 'https://d1.example', commit: 'c1', createdAt: earlier };
const fault = new ProviderFault({ provider: 'vercel', message: 'The hosting provider is down', transient: true });
const override = 'https://preview.example.com';

describe('the preview address', () => {
  const website: Pick<WebsiteDocument, 'hosting'> = { hosting: { provider: 'vercel', projectId: 'p1', name: 'bakery' } };
  const clock = createTestClock();
  const asked: string[] = [];
  let answer: Hosting['latestDeployment'];

  const previewOf = (
    changes: { showPreviewUrl?: boolean; previewUrlOverride?: string } = {},
    role: 'admin' | 'client' = 'admin',
    of = website,
  ): Promise<Preview> => {
    const hosting = {
      provider: 'vercel',
      latestDeployment: (projectId: string) => {
        asked.push(projectId);
        return answer(projectId);
      },
    };
    const block = { ...content([], changes), updatedAt: earlier };
    return createPreviews({ hosting, clock })(block, () => Promise.resolve(of.hosting), role);
  };

  beforeEach(() => {
    asked.length = 0;
    answer = () => Promise.resolve(deployment);
  });

  test('is the override, and the provider is not asked', async () => {
    expect(await previewOf({ previewUrlOverride: override })).toStrictEqual({ previewUrl: override });
    expect(asked).toStrictEqual([]);
  });

  test('else it is the latest deployment of the linked project', async () => {
    expect(await previewOf()).toStrictEqual({ previewUrl: deployment.url });
    expect(asked).toStrictEqual(['p1']);
  });

  test('else there is none: nothing deployed, no project linked', async () => {
    answer = () => Promise.resolve(null);
    expect(await previewOf()).toStrictEqual({});
    expect(await previewOf({}, 'admin', {})).toStrictEqual({});
  });

  test('clients see it only when it is shown; otherwise the provider is not asked', async () => {
    expect(await previewOf({ previewUrlOverride: override }, 'client')).toStrictEqual({});
    expect(await previewOf({}, 'client')).toStrictEqual({});
    expect(asked).toStrictEqual([]);
    expect(await previewOf({ showPreviewUrl: true }, 'client')).toStrictEqual({ previewUrl: deployment.url });
    expect(await previewOf({ showPreviewUrl: true, previewUrlOverride: override }, 'client')).toStrictEqual({
      previewUrl: override,
    });
  });

  test('is reported as unavailable when the project is at another provider, which is not asked', async () => {
    const elsewhere = { hosting: { provider: 'embedded', projectId: 'bakery', name: 'bakery' } };
    expect(await previewOf({}, 'admin', elsewhere)).toStrictEqual({ previewUrlUnavailable: true });
    expect(asked).toStrictEqual([]);
  });

  test('is reported as unavailable when the provider fails', async () => {
    answer = () => Promise.reject(fault);
    expect(await previewOf()).toStrictEqual({ previewUrlUnavailable: true });
  });

  test('is reported as unavailable after 2 s, and a later answer of the provider is ignored', async () => {
    let sayLate: (error: Error) => void = () => undefined;
    answer = () =>
      new Promise((_, reject) => {
        sayLate = reject;
      });
    const preview = previewOf();
    await clock.advance(1_999);
    expect(await Promise.race([preview, Promise.resolve('waiting')])).toBe('waiting');
    await clock.advance(1);
    expect(await preview).toStrictEqual({ previewUrlUnavailable: true });
    sayLate(fault);
  });

  test('leaves no timer behind', async () => {
    await previewOf();
    answer = () => Promise.reject(fault);
    await previewOf();
    expect(clock.pending()).toBe(0);
  });

  test('a mistake of ours is not taken for a fault of the provider', async () => {
    answer = () => Promise.reject(new TypeError('mistake'));
    await expect(previewOf()).rejects.toThrow('mistake');
  });
});

describe('a block is answered', () => {
  let started: DeliveryApi;
  beforeAll(async () => {
    started = await startDeliveryApi();
  });

  test('with the address of the latest deployment, to reads and to writes', async () => {
    const delivery = await started.newDelivery();
    expect(blockOf(await delivery.read())).not.toHaveProperty('previewUrl');
    await started.activate(delivery.websiteId);
    started.hostingSays((id) => Promise.resolve({ ...deployment, url: `https://${id}.example` }));
    for (const answered of [await delivery.read(), await delivery.setStatus('qa', 'done')]) {
      expect(blockOf(answered).previewUrl).toBe('https://project-1.example');
    }
  });

  test('with it too when the provisioning failed after the site was deployed', async () => {
    const delivery = await started.newDelivery({ showPreviewUrl: true });
    started.hostingSays((id) => Promise.resolve({ ...deployment, url: `https://${id}.example` }));
    const isBroken: Line = (name, act) =>
      name === 'visit' ? Promise.reject(permanentFault('The account is closed')) : Promise.resolve(act());
    const providers = providersOn(createRemote(), isBroken);
    const hosting = { ...providers.hosting, provider: 'embedded' };
    const worker = createProvisioningWorker({ ...partsOf(started.api.engine), ...providers, hosting });
    await worker.start();
    const { token } = started;
    const path = `/websites/${delivery.websiteId}`;
    await eventually('a failed job', async () => {
      const { body } = await started.api.call('GET', `${path}/provisioning`, { token });
      return (body as { status: string }).status === 'failed' ? true : undefined;
    });
    await worker.stop();
    expect(blockOf(await delivery.read()).previewUrl).toMatch(/^https:\/\/p\d+\.example$/);
    expect((await started.api.call('GET', path, { token })).body).toMatchObject({ status: 'provisioning' });
  });

  test('without it, and saying so, when the provider is at fault', async () => {
    const delivery = await started.newDelivery();
    await started.activate(delivery.websiteId);
    started.hostingSays(() => Promise.reject(fault));
    for (const answered of [await delivery.read(), await delivery.setStatus('qa', 'done')]) {
      const block = blockOf(answered);
      expect(block.previewUrlUnavailable).toBe(true);
      expect(block).not.toHaveProperty('previewUrl');
    }
  });

  test('as it was at a time without asking the provider, which knows only of now', async () => {
    const delivery = await started.newDelivery();
    await started.activate(delivery.websiteId);
    started.hostingSays(() => Promise.resolve(deployment));
    const block = blockOf(await delivery.read('?at=2999-01-01T00:00:00Z'));
    expect(block).not.toHaveProperty('previewUrl');
    expect(block).not.toHaveProperty('previewUrlUnavailable');
  });
});
