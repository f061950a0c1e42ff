import { Type } from 'typebox';
import { resourceUrl, type IdentityProvider, type TokenResource } from '../../../integrations/identity/port.js';
import { route, type Route, type RouteTag } from '../../route.js';

const discoveryTag: RouteTag = {
  name: 'Discovery',
  description: 'Where programs learn who issues tokens for this service. Pages of any origin may read it.',
};

export interface ProtectedResourceParts {
  /** `null`: nobody can sign in, only personal access tokens work. */
  readonly identityProvider: IdentityProvider | null;
  readonly baseUrl: () => string;
}

const Metadata = Type.Object(
  {
    resource: Type.String({
      description: 'What a program requests a token for (RFC 8707); the audience of the token.',
      examples: ['https://doorstep.example.com'],
    }),
    authorization_servers: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Issuers of tokens for it. Absent where nobody can sign in.',
        examples: [['https://doorstep.example.com/oidc']],
      }),
    ),
    audience: Type.Optional(
      Type.String({
        description:
          'What an issuer elsewhere is asked for, where it knows no resource indicators; absent with the embedded one.',
        examples: ['doorstep'],
      }),
    ),
    scopes_supported: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Scopes of the embedded sign-in; absent with an issuer elsewhere.',
        examples: [['api']],
      }),
    ),
    bearer_methods_supported: Type.Array(Type.Enum(['header']), { description: 'How a token is sent.', examples: [['header']] }),
    resource_name: Type.String({ description: 'For people.', examples: ['Doorstep API'] }),
    resource_documentation: Type.String({
      description: 'For developers.',
      examples: ['https://doorstep.example.com/docs'],
    }),
  },
  { $id: 'ProtectedResource', description: 'Metadata of a protected resource (RFC 9728, section 2).' },
);

const names: Readonly<Record<TokenResource, string>> = { api: 'Doorstep API', mcp: 'Doorstep MCP server' };

/** Metadata of what tokens are for: the API, and the MCP server (RFC 9728, section 3). */
export const protectedResourceRoutes = ({ identityProvider, baseUrl }: ProtectedResourceParts): readonly Route[] => {
  const metadata = (resource: TokenResource): object => {
    const base = baseUrl();
    const issuer = identityProvider?.issuer?.();
    const audience = resource === 'api' ? identityProvider?.audience?.() : undefined;
    return {
      resource: resourceUrl(base, resource),
      ...(issuer !== undefined && { authorization_servers: [issuer] }),
      ...(audience !== undefined && { audience }),
      ...(identityProvider?.hasScopes === true && { scopes_supported: [resource] }),
      bearer_methods_supported: ['header'],
      resource_name: names[resource],
      resource_documentation: `${base}/docs`,
    };
  };

  const metadataRoute = (resource: TokenResource, suffix: string, operationId: string, summary: string): Route =>
    route({
      method: 'get',
      path: `/.well-known/oauth-protected-resource${suffix}`,
      operationId,
      summary,
      description: 'Metadata of a protected resource (RFC 9728), from which programs find where to get a token.',
      tag: discoveryTag,
      scope: 'installation',
      access: 'public',
      openToOrigins: true,
      answers: { 200: { description: 'The metadata.', schema: Metadata } },
      answer: () => Promise.resolve({ body: metadata(resource), headers: { 'cache-control': 'public, max-age=300' } }),
    });

  return [
    metadataRoute('api', '', 'getProtectedResource', 'Who issues tokens for the API'),
    metadataRoute('mcp', '/mcp', 'getProtectedResourceOfMcp', 'Who issues tokens for the MCP server'),
  ];
};
