import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hasChromium } from '../support/chromium.js';
import { looksRight, operator, startPortal, type PortalSeat } from '../support/portal.js';
import { createGitHubFake } from '../support/providers/gitHubFake.js';
import { createVercelFake } from '../support/providers/vercelFake.js';
import { serveFake } from '../support/providers/wire.js';

// A browser is slow on a busy machine.
jest.setTimeout(120_000);

const withBrowser = hasChromium ? describe : describe.skip;

withBrowser('provisioning that stops', () => {
  let seat: PortalSeat;
  let websiteId: string;
  let isRefused = true;
  beforeAll(async () => {
    const gitHub = createGitHubFake({ copying: 0 });
    const vercel = createVercelFake({ repositoryOf: (name) => gitHub.repositories.get(name.split('/')[1] ?? ''), building: 0 });
    const onGitHub = await serveFake(gitHub.provider);
    const onVercel = await serveFake((request) =>
      isRefused && request.method === 'POST' && /^\/v\d+\/projects$/.test(request.path)
        ? { status: 402, body: { error: { code: 'payment_required', message: 'The plan of the team has no project left' } } }
        : vercel.provider(request),
    );
    seat = await startPortal({
      GITHUB_TOKEN: gitHub.token,
      GITHUB_OWNER: gitHub.owner,
      GITHUB_TEMPLATE: `${gitHub.owner}/${gitHub.template}`,
      GITHUB_API_URL: onGitHub.url,
      VERCEL_TOKEN: vercel.token,
      VERCEL_TEAM_ID: vercel.teamId,
      VERCEL_API_URL: onVercel.url,
    });
    ({ id: websiteId } = await seat.admin.websites.create({ name: 'Harbour Yoga', slug: 'harbour-yoga' }));
    await seat.admin.clients.create({ email: 'anna@example.com' });
    await seat.admin.websites.clients.add(websiteId, { email: 'anna@example.com', role: 'viewer' });
  });

  test('says where and why, is cleaned up, and goes on once it can', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit(`/websites/${websiteId}/provisioning`, operator);
    await page.getByRole('heading', { level: 1, name: 'Stopped at “Hosting project”' }).waitFor();
    await page.getByText('The plan of the team has no project left').first().waitFor();
    await page.getByText('What the steps before it made stays and is used.').waitFor();
    await page.locator('[data-step=github_create_repo]').getByText('there now').waitFor();
    expect(await page.locator('[data-step=vercel_set_env_vars]').innerText()).toContain('not reached');
    await looksRight(page);

    await page.getByRole('button', { name: 'Clean up' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('harbour-yoga').waitFor();
    await looksRight(page);
    await dialog.getByRole('button', { name: 'Clean up' }).click();
    await page.getByRole('heading', { name: 'It stopped, and was cleaned up' }).waitFor();

    isRefused = false;
    await page.getByRole('button', { name: 'Build it again' }).click();
    // Its last step asks for an address that does not exist.
    await page.getByRole('heading', { level: 1, name: 'Waiting to try again: Last check' }).waitFor();
    await page
      .locator('[data-step=finalize]')
      .getByText(/^next try /)
      .waitFor();
    expect(await page.locator('[data-status=succeeded]').count()).toBe(5);
    expect(complaints).toEqual([]);
  });

  test('tells a client where it is, without what went wrong', async () => {
    const { page, complaints, visit } = await seat.open();
    await visit(`/websites/${websiteId}/provisioning`, 'anna@example.com');
    await page.getByRole('heading', { level: 1, name: 'Waiting to try again: Last check' }).waitFor();
    const words = await page.locator('main').innerText();
    expect(words).toContain('First deployment');
    expect(words).not.toMatch(/vercel\.app|does not answer|request/);
    expect(await page.getByRole('button', { name: /Retry|Clean up/ }).count()).toBe(0);
    await looksRight(page);
    expect(complaints).toEqual([]);
  });
});
