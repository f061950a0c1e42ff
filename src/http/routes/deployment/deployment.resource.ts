import { Type, type Static } from 'typebox';
import type { Deployment as HostingDeployment } from '../../../integrations/hosting/port.js';
import { deliveryProjection } from '../../../projections/delivery/delivery.projection.js';
import type { Reader } from '../../../projections/reader.js';
import type { RouteRequest } from '../../route.js';

const Time = Type.String({ format: 'date-time' });

/** One build of a website (api.md, section 4). */
export const Deployment = Type.Object(
  {
    id: Type.String({ description: 'As the hosting provider names it.', examples: ['00000002-44ad3d113b923cc6'] }),
    status: Type.Enum(['building', 'ready', 'failed']),
    url: Type.Optional(
      Type.String({
        description: 'Address of just this deployment; once it is ready. For clients only with `showPreviewUrl`, as a preview.',
      }),
    ),
    commit: Type.Optional(Type.String({ description: 'What it was built from.' })),
    createdAt: Time,
    error: Type.Optional(
      Type.String({
        description:
          'What went wrong; of a failed one. Clients read what is wrong with the website’s own files, and else a plain note.',
      }),
    ),
  },
  { $id: 'Deployment', description: 'One build of a website.' },
);

/** Instead of a provider's words, which are the agency's business. */
const errorForClients = 'The build failed. Ask the agency to look into it.';

/** What a caller may read of deployments. */
export interface Sight {
  readonly addresses: boolean;
  readonly providerErrors: boolean;
}

export const toDeployment = (deployment: HostingDeployment, may: Sight): Static<typeof Deployment> => {
  const { id, status, url, commit, createdAt, error, isErrorOfSite = false } = deployment;
  return {
    id,
    status,
    ...(status === 'ready' && may.addresses && { url }),
    ...(commit !== '' && { commit }),
    createdAt,
    ...(error !== undefined && { error: isErrorOfSite || may.providerErrors ? error : errorForClients }),
  };
};

/** The address of a deployment is a preview (api.md, section 5). */
export const createSightOf =
  (reader: Reader) =>
  async ({ caller, website: { website } }: Pick<RouteRequest, 'caller' | 'website'>): Promise<Sight> => {
    if (caller.role === 'admin') return { addresses: true, providerErrors: true };
    const { document: block } = await reader.read(deliveryProjection, website.id);
    return { addresses: block?.showPreviewUrl === true, providerErrors: false };
  };
