import { createVercel } from '../../src/integrations/hosting/vercel.js';
import { createGitHub } from '../../src/integrations/sourceHost/github.js';
import type { Clock } from '../../src/platform/clock.js';
import { createLogger } from '../../src/platform/logger.js';
import { systemRandom } from '../../src/platform/random.js';
import { createGitHubFake, type GitHubFake } from '../support/providers/gitHubFake.js';
import { createVercelFake, type VercelFake } from '../support/providers/vercelFake.js';
import { fetchFrom, type FakeProvider, type FakeRequest, type Trouble, type TroubleKind } from '../support/providers/wire.js';
import type { Outside } from '../provisioning/provisioningWorld.js';
import type { Line } from './remote.js';

// Loading them takes real time, in which virtual time would fly.
await import('@octokit/rest');
await import('@octokit/plugin-throttling');

export interface GitHubAndVercel extends Outside {
  readonly gitHub: GitHubFake;
  readonly vercel: VercelFake;
  /** Every request that was sent, by all machines. */
  readonly requests: string[];
}

const nameOf = ({ method, path }: FakeRequest): string => `${method} ${path}`;

/**
 * GitHub and Vercel behind their real adapters, each machine with its own, without sockets.
 * @param trouble what the n-th request of all meets, counted from 0
 */
export const createGitHubAndVercel = (trouble: (index: number) => Trouble | undefined = () => undefined): GitHubAndVercel => {
  const gitHub = createGitHubFake();
  const vercel = createVercelFake({ repositoryOf: (name) => gitHub.repositories.get(name.split('/')[1] ?? '') });
  const requests: string[] = [];
  const logger = createLogger({ level: 'silent' });

  const over = (provider: FakeProvider, line: Line): typeof fetch =>
    fetchFrom(provider, (request, act) => {
      const met = trouble(requests.length);
      requests.push(nameOf(request));
      return line(nameOf(request), (): { answer: ReturnType<FakeProvider>; trouble?: TroubleKind } => {
        const answer = met?.when === 'before' ? { status: 200, body: {} } : act();
        return { answer, ...(met !== undefined && { trouble: met.what }) };
      });
    });

  return {
    gitHub,
    vercel,
    requests,
    url: 'https://bakery.vercel.app/',
    counts: () => ({
      repositories: gitHub.made.length,
      collaborators: gitHub.repositories.get('bakery')?.invitations.length ?? 0,
      projects: vercel.made.projects.length,
      deployments: vercel.made.deployments.length,
    }),
    providersOn: (line, clock: Clock) => {
      const common = { clock, random: systemRandom, logger };
      const visit = (url: string): Promise<number> => line('visit', () => vercel.visit(url).status);
      const { owner, token, template } = gitHub;
      return {
        visit,
        sourceHost: createGitHub({
          ...common,
          settings: { token, owner, template: { owner, name: template }, apiUrl: 'https://api.github.com' },
          paced: false,
          fetch: over(gitHub.provider, line),
        }),
        hosting: createVercel({
          ...common,
          settings: { token: vercel.token, teamId: vercel.teamId, apiUrl: 'https://api.vercel.com' },
          fetchStatus: visit,
          fetch: over(vercel.provider, line),
        }),
      };
    },
  };
};
