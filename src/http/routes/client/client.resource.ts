import { Type } from 'typebox';
import { PendingAddress, PersonalAddress, PersonalName } from '../../personalFields.js';
import type { RouteTag } from '../../route.js';

export const clientTag: RouteTag = { name: 'Clients', description: 'The end customers.' };

export const Client = Type.Object(
  {
    id: Type.String(),
    email: PersonalAddress,
    name: Type.Optional(PersonalName),
    pendingEmail: Type.Optional(PendingAddress),
    pendingEmailExpiresAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'Until when the new address can be confirmed.' }),
    ),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { $id: 'Client', description: 'An end customer.' },
);
