import { Type, type Static } from 'typebox';
import type { Engine } from '../../../engine.js';
import type { ActorNames } from '../../../events/actorNames.js';
import { clientFold } from '../../../events/client/client.state.js';
import { erased } from '../../../platform/personal.js';
import type { ReceiptDocument } from '../../../projections/receipt/receipt.projection.js';
import { PersonalAddress, PersonalName } from '../../personalFields.js';
import { DeliveryChanges } from '../delivery/delivery.resource.js';

const Time = Type.String({ format: 'date-time' });

/** What changed of a delivery block, for members (api.md, section 4). */
export const VisibleChanges = Type.Array(
  Type.Object(
    {
      revision: Type.Integer(),
      at: Time,
      changes: DeliveryChanges,
      reason: Type.Optional(Type.String({ description: 'Why, when clients may read it.' })),
    },
    { $id: 'VisibleDeliveryChange', description: 'One change of a delivery block, as clients may see it.' },
  ),
);

const firstAt = Type.String({ format: 'date-time', description: 'When the person first saw it.' });
const lastAt = Type.String({ format: 'date-time', description: 'When the person last saw it, to the minute.' });

const DeliveryReader = Type.Object(
  {
    clientId: Type.Optional(Type.String({ description: 'Id of the client; absent of admins.' })),
    subject: Type.String(),
    name: Type.Optional({
      ...PersonalName,
      description: 'The name or else the address of the person; `[erased]` of one who was erased.',
    }),
    email: Type.Optional({ ...PersonalAddress, description: 'Of a client: the address, or `[erased]`.' }),
    role: Type.Enum(['admin', 'client', 'system']),
    revision: Type.Integer({ description: 'The highest revision that the person saw.' }),
    firstAt,
    lastAt,
    revisions: Type.Array(Type.Object({ revision: Type.Integer({ description: 'Of the block.' }), firstAt, lastAt }), {
      description: 'Each revision that the person saw, the one seen last first; at most 50.',
    }),
  },
  { $id: 'DeliveryReader', description: 'Who looked at a delivery block, and what they saw.' },
);
export const DeliveryReaders = Type.Array(DeliveryReader);

/** A person and what they saw, named as of now. */
export const toDeliveryReader = async (
  engine: Engine,
  toActor: ActorNames['toActor'],
  { clientId, actor, revision, firstAt: first, lastAt: last, looks }: ReceiptDocument,
): Promise<Static<typeof DeliveryReader>> => {
  const { subject, name: known, role } = await toActor(actor);
  const person = clientId === undefined ? undefined : await clientOf(engine, clientId);
  const name = person?.name ?? person?.email ?? known;
  return {
    ...(clientId !== undefined && { clientId }),
    subject,
    ...(name !== undefined && { name }),
    ...(person !== undefined && { email: person.email }),
    role,
    revision,
    firstAt: first,
    lastAt: last,
    revisions: looks.map((look) => ({ ...look })),
  };
};

const clientOf = async ({ state, personal }: Engine, clientId: string): Promise<{ email: string; name?: string } | undefined> => {
  const { state: client } = await state(clientFold, { clientId });
  if (client.stage === 'none') return undefined;
  if (client.stage === 'erased') return { email: erased };
  const { email, name } = client;
  return { email: await personal.display(email), ...(name !== undefined && { name: await personal.display(name) }) };
};
