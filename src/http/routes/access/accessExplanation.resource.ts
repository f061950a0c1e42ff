import { Type, type Static } from 'typebox';
import type { WebsiteDocument } from '../../../projections/website/website.projection.js';
import { explain, explainedRules } from '../../auth/explain.js';
import type { Person } from '../../auth/person.js';
import { standings, type WebsiteStanding } from '../../auth/caller.js';
import { PersonalAddress, PersonalName } from '../../personalFields.js';
import type { Route } from '../../route.js';
import { Invitation } from './access.resource.js';

const Operation = Type.Object(
  {
    operationId: Type.String({ description: 'As in this document.', examples: ['getDelivery'] }),
    method: Type.String({ description: 'In capitals.', examples: ['GET'] }),
    path: Type.String({ description: 'With `:name` for parameters.', examples: ['/websites/:id/delivery'] }),
    summary: Type.String({ description: 'What it does.', examples: ['Read the delivery block of a website'] }),
    allowed: Type.Boolean({ description: 'Whether the service lets them.' }),
    rule: Type.Enum([...explainedRules], {
      description:
        'What decides. `link`: everybody who is linked; `role`: editor or viewer; `none`: nothing ties them to the website.',
    }),
    why: Type.String({ description: 'In words for people.', examples: ['Everybody who is linked may.'] }),
  },
  { $id: 'ExplainedOperation', description: 'Whether somebody may do one thing, and why.' },
);

/** What somebody may see and do at a website, and by which rule. */
export const AccessExplanation = Type.Object(
  {
    websiteId: Type.String(),
    person: Type.Object(
      {
        subject: Type.Optional(Type.String()),
        email: Type.Optional(PersonalAddress),
        clientId: Type.Optional(Type.String()),
        name: Type.Optional(PersonalName),
        role: Type.Enum(['admin', 'client']),
        roleFrom: Type.Enum(['account', 'apiKey', 'nothing'], {
          description:
            'What the role is known from: the account of the address, a live API key with the admin role, or nothing: an outside ' +
            'identity provider says it in their own token alone, and `client` is assumed.',
        }),
        standing: Type.Enum([...standings], { description: 'What they are to the website.' }),
        why: Type.String({ description: 'In words for people.', examples: ['They are linked to the website as an editor.'] }),
      },
      { description: 'Who it is about, as far as the service knows them.' },
    ),
    invitations: Type.Array(Invitation, { description: 'Invitations of theirs to this website that are open or have expired.' }),
    areas: Type.Array(
      Type.Object({
        area: Type.String({ description: 'A group of operations.', examples: ['Delivery'] }),
        may: Type.Enum(['everything', 'some', 'nothing'], { description: 'How much of it they may.' }),
        operations: Type.Array(Operation, { description: 'All operations of the website in this area.' }),
      }),
      { description: 'Every operation of the website, by area.' },
    ),
    fields: Type.Array(
      Type.Object({
        operationId: Type.String({ description: 'The operation that answers with it.', examples: ['getDelivery'] }),
        field: Type.String({ description: 'Which field of the answer, with dots.', examples: ['previewUrl'] }),
        visible: Type.Boolean({ description: 'Whether they get it, where there is one.' }),
        why: Type.String({
          description: 'In words for people.',
          examples: ['Clients see the preview: `showPreviewUrl` is true.'],
        }),
      }),
      { description: 'Fields that not everybody gets who may call the operation; of operations that they may call.' },
    ),
  },
  { $id: 'AccessExplanation', description: 'What somebody may see and do at a website, and by which rule.' },
);

type Explanation = Static<typeof AccessExplanation>;
type ExplainedOperation = Static<typeof Operation>;

/** What somebody is to the website, in words. */
export const standingInWords = (standing: WebsiteStanding, { roleFrom, clientId }: Person, isInvited: boolean): string => {
  switch (standing) {
    case 'admin':
      return roleFrom === 'apiKey' ? 'They have an API key with the admin role.' : 'They sign in as an admin.';
    case 'owner':
      return 'They own the website.';
    case 'editor':
      return 'They are linked to the website as an editor.';
    case 'viewer':
      return 'They are linked to the website as a viewer.';
    case 'stranger': {
      const known = clientId === undefined ? 'Nobody is known by that' : 'They neither own the website nor are linked to it';
      const who = isInvited ? 'They are invited, and have not taken it up' : known;
      return roleFrom === 'nothing' ? `${who}. Whether they are an admin, their own token alone says.` : `${who}.`;
    }
    default:
      return standing satisfies never;
  }
};

/** @param routes of a website */
export const explainAreas = (
  routes: readonly Route[],
  standing: WebsiteStanding,
  website: WebsiteDocument,
  isOffered: boolean,
): Explanation['areas'] => {
  const areas = new Map<string, ExplainedOperation[]>();
  for (const route of routes) {
    const { operationId, method, path, summary, tag } = route;
    const operation = {
      operationId,
      method: method.toUpperCase(),
      path,
      summary,
      ...explain(route, standing, website, isOffered),
    };
    areas.set(tag.name, [...(areas.get(tag.name) ?? []), operation]);
  }
  return [...areas].map(([area, operations]) => ({ area, may: howMuch(operations), operations }));
};

const howMuch = (operations: readonly ExplainedOperation[]): 'everything' | 'some' | 'nothing' => {
  const allowed = operations.filter((one) => one.allowed).length;
  if (allowed === 0) return 'nothing';
  return allowed === operations.length ? 'everything' : 'some';
};

/** What decides on fields, beside who asks. */
interface FieldFacts {
  /** `undefined` before delivery tracking is set up. */
  readonly showPreviewUrl: boolean | undefined;
  /** Whether the repository is on the embedded source host. */
  readonly isRepositoryHere: boolean;
}

type FieldRule = (standing: WebsiteStanding, facts: FieldFacts) => { readonly visible: boolean; readonly why: string };

const forAdmins: FieldRule = (standing) => ({ visible: standing === 'admin', why: 'For admins.' });

const byPreviewSwitch: FieldRule = (standing, { showPreviewUrl }) => {
  if (standing === 'admin') return { visible: true, why: 'Admins see it always.' };
  if (showPreviewUrl === undefined) return { visible: false, why: 'Clients see it once delivery tracking is set up to show it.' };
  return { visible: showPreviewUrl, why: `For clients \`showPreviewUrl\` decides, which is ${String(showPreviewUrl)}.` };
};

/** Fields that depend on who asks (api.md, section 5). The test of the explanation holds them against real answers. */
const fieldRules: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
  getDelivery: { previewUrl: byPreviewSwitch, previewUrlOverride: forAdmins },
  listDeployments: { url: byPreviewSwitch },
  getWebsite: {
    billing: (standing) => ({ visible: standing === 'admin' || standing === 'owner', why: 'For the owner and admins.' }),
    'repository.cloneUrl': (standing, { isRepositoryHere }) => ({
      visible: standing === 'admin' || isRepositoryHere,
      why: isRepositoryHere ? 'For everybody who reads the website.' : 'For admins: the repository is the agency’s.',
    }),
  },
  getProvisioningJob: {
    reason: forAdmins,
    'steps.error': forAdmins,
    'steps.output': forAdmins,
    remains: forAdmins,
    cleanup: forAdmins,
  },
};

export const explainFields = (areas: Explanation['areas'], standing: WebsiteStanding, facts: FieldFacts): Explanation['fields'] =>
  areas
    .flatMap(({ operations }) => operations)
    .filter(({ allowed }) => allowed)
    .flatMap(({ operationId }) =>
      Object.entries(fieldRules[operationId] ?? {}).map(([field, rule]) => ({ operationId, field, ...rule(standing, facts) })),
    );
