import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { createGitHubFake } from '../support/providers/gitHubFake.js';
import { createVercelFake } from '../support/providers/vercelFake.js';
import { serveFake, type FakeProvider } from '../support/providers/wire.js';
import { createApi, launchServer, mintToken, startServer, type Launched } from '../support/server.js';
import { temporaryFolder } from '../support/temporary.js';

interface Job {
  readonly status: string;
  readonly reason?: string;
  readonly steps: readonly { readonly id: string; readonly status: string; readonly error?: string }[];
}

test('a server that is killed before and after calls to GitHub and Vercel creates nothing twice', async () => {
  const gitHub = createGitHubFake({ copying: 1 });
  const vercel = createVercelFake({ repositoryOf: (name) => gitHub.repositories.get(name.split('/')[1] ?? ''), building: 1 });
  const dataDir = temporaryFolder();
  let server: Launched | undefined;
  const killed: string[] = [];
  const kill = (name: string): void => {
    killed.push(name);
    void server?.kill('SIGKILL');
  };
  const killing =
    (provider: FakeProvider, path: RegExp, when: 'before' | 'after'): FakeProvider =>
    (request) => {
      const name = `${request.method} ${request.path}`;
      const isIt = request.method === 'POST' && path.test(request.path) && !killed.includes(name);
      if (isIt && when === 'before') {
        kill(name);
        return { status: 500, body: { message: 'never read' } };
      }
      const answer = provider(request);
      if (isIt) kill(name);
      return answer;
    };
  const onGitHub = await serveFake(killing(gitHub.provider, /\/generate$/, 'before'));
  const onVercel = await serveFake(killing(vercel.provider, /^\/v13\/deployments$/, 'after'));
  const settings = {
    GITHUB_TOKEN: gitHub.token,
    GITHUB_OWNER: gitHub.owner,
    GITHUB_TEMPLATE: `${gitHub.owner}/${gitHub.template}`,
    GITHUB_API_URL: onGitHub.url,
    VERCEL_TOKEN: vercel.token,
    VERCEL_TEAM_ID: vercel.teamId,
    VERCEL_API_URL: onVercel.url,
    LOG_LEVEL: 'debug',
  };

  const token = await mintToken(dataDir);
  const first = await startServer(dataDir, settings);
  server = first;
  const { status, body } = await createApi(first.address, token).post('/websites', { name: 'Bakery', slug: 'bakery' });
  expect(status).toBe(201);
  const { id } = body as { id: string };
  await first.ended;
  expect(killed).toEqual(['POST /repos/agency/site-template/generate']);

  const second = launchServer(dataDir, settings);
  server = second;
  await second.ended;
  expect(killed).toHaveLength(2);

  const third = await startServer(dataDir, settings);
  server = third;
  // Its last step requests an address that does not exist.
  const job = await eventually(
    'the last step',
    async () => {
      const answer = (await createApi(third.address, token).get(`/websites/${id}/provisioning`)).body as Job;
      return answer.status === 'failed' || answer.steps.at(-1)?.error !== undefined ? answer : undefined;
    },
    240_000,
  );
  expect(job.steps.map((step) => step.status)).toEqual([...Array.from({ length: 5 }, () => 'succeeded'), 'running']);
  expect(job.steps.at(-1)?.error).toMatch(/^https:\/\/bakery\.vercel\.app\/ does not answer$/);
  expect(gitHub.made).toEqual(['bakery']);
  expect(vercel.made).toMatchObject({ projects: ['bakery'], deployments: [expect.any(String)] });
  expect([...onGitHub.complaints, ...onVercel.complaints]).toEqual([]);
  const logged = [first, second, third].map(({ written }) => written()).join('');
  expect(logged).toContain('providerRequestId');
  expect(logged).not.toContain(gitHub.token);
  expect(logged).not.toContain(vercel.token);
  await third.kill('SIGTERM');
}, 480_000);
