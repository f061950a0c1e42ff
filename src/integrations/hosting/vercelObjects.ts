import { Type, type Static, type TSchema } from 'typebox';
import { isoTime } from '../../platform/clock.js';
import { parserFor } from '../http.js';
import type { Deployment } from './port.js';

/** The fields used of Vercel's responses (https://vercel.com/docs/rest-api), and their translation. */
export const provider = 'Vercel';

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

export const parseProject = parserFor(
  provider,
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    paused: Type.Optional(Type.Boolean()),
    link: Type.Optional(Type.Object({ repoId: Type.Optional(Type.Number()), productionBranch: Type.Optional(Type.String()) })),
  }),
);
export const parseVariables = parserFor(
  provider,
  Type.Object({
    envs: Type.Array(
      Type.Object({
        key: Type.String(),
        type: Type.Optional(Type.String()),
        value: nullable(Type.String()),
        updatedAt: Type.Optional(Type.Number()),
      }),
    ),
  }),
);
export const parseUpsert = parserFor(
  provider,
  Type.Object({
    failed: Type.Array(Type.Object({ error: Type.Object({ message: Type.String(), envVarKey: Type.Optional(Type.String()) }) })),
  }),
);
export const parseDomains = parserFor(
  provider,
  Type.Object({
    domains: Type.Array(Type.Object({ name: Type.String(), verified: Type.Boolean(), redirect: nullable(Type.String()) })),
  }),
);
export const parseProjectDomain = parserFor(
  provider,
  Type.Object({
    verified: Type.Boolean(),
    verification: Type.Optional(Type.Array(Type.Object({ type: Type.String(), domain: Type.String(), value: Type.String() }))),
  }),
);
export const parseDomainConfig = parserFor(
  provider,
  Type.Object({
    recommendedCNAME: Type.Optional(Type.Array(Type.Object({ rank: Type.Number(), value: Type.String() }))),
    recommendedIPv4: Type.Optional(Type.Array(Type.Object({ rank: Type.Number(), value: Type.Array(Type.String()) }))),
  }),
);
const Meta = Type.Optional(Type.Record(Type.String(), Type.Unknown()));
const deploymentFields = {
  url: nullable(Type.String()),
  readyState: Type.Optional(Type.String()),
  meta: Meta,
  errorMessage: nullable(Type.String()),
  createdAt: Type.Number(),
};
const VercelDeployment = Type.Object({ id: Type.String(), ...deploymentFields });
const ListedDeployment = Type.Object({ uid: Type.String(), ...deploymentFields });
export const parseDeployment = parserFor(provider, VercelDeployment);
export const parseDeployments = parserFor(provider, Type.Object({ deployments: Type.Array(ListedDeployment) }));
export const parseNothing = parserFor(provider, Type.Null());
export const parseError = parserFor(provider, Type.Object({ error: Type.Object({ message: Type.String() }) }));

export const statusOf = (state: string | undefined): Deployment['status'] => {
  if (state === 'READY') return 'ready';
  return state === 'ERROR' || state === 'CANCELED' || state === 'BLOCKED' || state === 'DELETED' ? 'failed' : 'building';
};

export const deploymentOf = ({
  id,
  url,
  readyState,
  meta,
  errorMessage,
  createdAt,
}: Static<typeof VercelDeployment>): Deployment => {
  const status = statusOf(readyState);
  const commit = meta?.githubCommitSha;
  return {
    id,
    status,
    // Vercel gives the host only.
    url: url === undefined || url === null ? '' : `https://${url}`,
    commit: typeof commit === 'string' ? commit : '',
    createdAt: isoTime(createdAt),
    ...(status === 'failed' && { error: errorMessage ?? `The deployment is ${(readyState ?? 'lost').toLowerCase()}` }),
  };
};

export const toDeployment = ({ uid, ...deployment }: Static<typeof ListedDeployment>): Deployment =>
  deploymentOf({ id: uid, ...deployment });
