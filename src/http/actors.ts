import { Type } from 'typebox';

/** Who has done something, in histories and audits. */
export const Actor = Type.Object(
  {
    subject: Type.String({ description: 'As the identity provider knows them; of a process its name.' }),
    name: Type.Optional(
      Type.String({
        description:
          'The name or else the address of the person; `[erased]` of one who was erased. Absent of processes and unknown people.',
        examples: ['Ana Gomes'],
      }),
    ),
    role: Type.Enum(['admin', 'client', 'system']),
    via: Type.Enum(['portal', 'token', 'worker', 'webhook']),
    tokenId: Type.Optional(Type.String({ description: 'The personal access token that was used.' })),
  },
  { $id: 'Actor', description: 'Who has done something.' },
);
