import { Type, type Static } from 'typebox';
import { consequenceOf } from '../../../commands/handleCommand.js';
import { Refused, refusals } from '../../../commands/refusal.js';
import type { Engine } from '../../../engine.js';
import { areSameValues } from '../../../events/website/siteValues.js';
import { requireProvider } from '../../../integrations/fault.js';
import type { Deployment as HostingDeployment, Hosting } from '../../../integrations/hosting/port.js';
import type { Commit as SourceCommit, SourceHost } from '../../../integrations/sourceHost/port.js';
import { isoTime } from '../../../platform/clock.js';
import { entityId } from '../../../platform/ids.js';
import { createKeyedLimit } from '../../../platform/keyedLimit.js';
import { deployedProject } from '../../../projections/provisioning/provisioning.queries.js';
import type { Reader } from '../../../projections/reader.js';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { redeployFold, redeployProcess } from '../../../workers/deployment/deployment.process.js';
import { awaitVariables } from './awaitVariables.js';
import { notACursor, readPage } from '../../paging.js';
import { route, type Route, type RouteTag } from '../../route.js';
import { createSightOf, Deployment, toDeployment } from './deployment.resource.js';
import { unchangedDeployment, type Deployments } from './deployments.js';

const deploymentTag: RouteTag = {
  name: 'Deployments',
  description: 'What was built, and from which commits, as the hosting provider and the source host report it.',
};
const Time = Type.String({ format: 'date-time' });

const Commit = Type.Object(
  {
    id: Type.String({ description: 'Its hash.', examples: ['4141103aec035e7e22c16befa88d3956f8a6bbdf'] }),
    message: Type.String({ description: 'What its author says of it.' }),
    author: Type.Optional(Type.String()),
    committedAt: Type.Optional(Time),
    url: Type.Optional(Type.String({ description: 'Where people read it.' })),
  },
  { $id: 'Commit', description: 'A commit of the repository.' },
);

const toCommit = ({ author, ...commit }: SourceCommit): Static<typeof Commit> => ({
  ...commit,
  ...(author !== '' && { author }),
});

/** Where a page of deployments has ended: providers go by the time or by the id. */
const placeOf = ({ createdAt, id }: HostingDeployment): string => `${String(Date.parse(createdAt))}.${id}`;

const deploymentAt = (place: string): Pick<HostingDeployment, 'id' | 'createdAt'> => {
  const [, time, id] = /^(\d{1,14})\.(.+)$/.exec(place) ?? [];
  if (time === undefined || id === undefined) throw notACursor();
  return { id, createdAt: isoTime(Number(time)) };
};

/**
 * Where a page of commits has ended: what comes with the commit that was the newest on the first page stays the
 * same, whatever is committed since.
 */
interface CommitPlace {
  readonly head: string;
  readonly skip: number;
}

const placeOfCommit = ({ head, skip }: CommitPlace): string => `${head}.${String(skip)}`;

const commitsAt = (place: string): CommitPlace => {
  const [, head, skip] = /^([0-9a-f]{40})\.(\d{1,6})$/.exec(place) ?? [];
  if (head === undefined || skip === undefined) throw notACursor();
  return { head, skip: Number(skip) };
};

/** Of one website at the same time. A deep page of a long history takes seconds, and goes on when its reader has gone. */
const maxCommitReads = 2;

export interface DeploymentRouteParts {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly sourceHost: SourceHost;
  readonly hosting: Hosting;
  readonly deployments: Deployments;
}

/**
 * Deployments and commits of a website, asked of the providers at each call and never stored; a new
 * deployment.
 */
export const deploymentRoutes = (parts: DeploymentRouteParts): readonly Route[] => {
  const { engine, reader, sourceHost, hosting, deployments } = parts;

  const sightOf = createSightOf(reader);
  const limitCommitReads = createKeyedLimit(maxCommitReads);

  const projectIn = (
    project: Pick<NonNullable<WebsiteDocument['hosting']>, 'provider' | 'projectId'> | undefined,
  ): string | null => {
    if (project === undefined) return null;
    requireProvider({ used: hosting, needed: project });
    return project.projectId;
  };

  return [
    route({
      method: 'get',
      path: '/websites/:id/deployments',
      operationId: 'listDeployments',
      summary: 'List the deployments of a website, newest first',
      description:
        'Asked of the hosting provider at each call; clients get addresses only when `showPreviewUrl` is true. They are not counted, and not read by ids: providers do not offer it.',
      tag: deploymentTag,
      scope: 'website',
      access: 'members',
      asksProvider: true,
      paging: true,
      answers: {
        200: { description: 'As the hosting provider reports them; none before the first.', schema: Type.Array(Deployment) },
      },
      answer: async ({ website, caller, query }) => {
        const projectId = projectIn(await deployedProject(reader, website.website));
        const { items, next } = await readPage(query, placeOf, ({ limit, after }) => {
          const last = after === undefined ? undefined : deploymentAt(after);
          return projectId === null ? Promise.resolve([]) : hosting.listDeployments(projectId, limit, last);
        });
        const may = await sightOf({ website, caller });
        return { body: items.map((deployment) => toDeployment(deployment, may)), next };
      },
    }),

    route({
      method: 'get',
      path: '/websites/:id/commits',
      operationId: 'listCommits',
      summary: 'List the commits of a website’s repository, newest first',
      description: 'Asked of the source host at each call. They are not counted, and not read by ids: providers do not offer it.',
      tag: deploymentTag,
      scope: 'website',
      access: 'members',
      asksProvider: true,
      paging: true,
      answers: {
        200: { description: 'Those of the default branch, as the source host reports them.', schema: Type.Array(Commit) },
      },
      answer: async ({ website: { website }, query, signal }) => {
        const { repository } = website;
        if (repository !== undefined) requireProvider({ used: sourceHost, needed: repository });
        const { items, next } = await readPage(query, placeOfCommit, async ({ limit, after }) => {
          if (repository === undefined) return [];
          const from = after === undefined ? undefined : commitsAt(after);
          const commits = await limitCommitReads(website.id, async () => {
            signal.throwIfAborted();
            return sourceHost.listCommits(repository.id, limit, from);
          });
          if (commits === null) throw notACursor();
          const { head = commits[0]?.id ?? '', skip = 0 } = from ?? {};
          return commits.map((commit, index) => ({ commit, head, skip: skip + index + 1 }));
        });
        return { body: items.map(({ commit }) => toCommit(commit)), next };
      },
    }),

    route({
      method: 'post',
      path: '/websites/:id/redeploy',
      operationId: 'redeployWebsite',
      summary: 'Build a website from the newest commit and serve it',
      description:
        'Answers as soon as the provider has begun to build; `/deployments` says how it went. When neither the newest commit nor the values of the website have changed since the newest deployment, and that has not failed, it is the answer, and no other is made.',
      tag: deploymentTag,
      scope: 'website',
      access: 'editors',
      asksProvider: true,
      refusals: ['website_not_deployed'],
      answers: { 202: { description: 'The deployment, as far as it has come.', schema: Deployment } },
      act: async ({ website: { website }, context }, acting) => {
        const { id: websiteId, hosting: project } = website;
        if (project === undefined) throw new Refused(refusals.websiteNotDeployed(websiteId));
        requireProvider({ used: hosting, needed: project });
        const deployed = { ...website, hosting: project };
        // Asked twice with the same key, it is one deployment.
        const redeployId = entityId(context.commandId, 'redeploy');
        const { state } = await engine.state(redeployFold, { redeployId });
        // One that was requested goes on.
        const isAsked = state.stage !== 'none';
        const unchanged = isAsked || !areSameValues(website, website.built) ? null : await unchangedDeployment(parts, deployed);
        if (unchanged !== null) return { unchanged };
        const { projectId } = project;
        const command = { type: 'RequestRedeploy', redeployId, websiteId, provider: hosting.provider, projectId } as const;
        // Before the provider is asked to build: the log names the caller, whatever happens then.
        await acting.handle(redeployProcess, command, context);
        return { deployed, redeployId };
      },
      answer: async ({ context, website, caller, signal }, requested) => {
        const body = async (deployment: HostingDeployment) => toDeployment(deployment, await sightOf({ website, caller }));
        if ('unchanged' in requested) return { status: 202, body: await body(requested.unchanged) };
        const { deployed, redeployId } = requested;
        const asking = { engine, reader, provider: hosting.provider };
        const values = await awaitVariables(asking, deployed.id, consequenceOf(engine, context), signal);
        const contextNow = () => consequenceOf(engine, context);
        return { status: 202, body: await body(await deployments.redeploy(deployed, redeployId, contextNow, values)) };
      },
    }),
  ];
};
