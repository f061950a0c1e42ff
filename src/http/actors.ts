import { Type } from 'typebox';
import { PersonalText } from './personalFields.js';

/** Who has done something, in histories and audits. */
export const Actor = Type.Object(
  {
    subject: {
      ...PersonalText,
      description:
        'As the identity provider knows them; of a process or a script its name. To clients an admin whose subject is an address is `admin`.',
    },
    name: Type.Optional({
      ...PersonalText,
      description:
        'The name or else the address of the person; `[erased]` of one who was erased. Absent of processes and unknown people, and to clients of admins.',
      examples: ['Ana Gomes'],
    }),
    role: Type.Enum(['admin', 'client', 'system']),
    via: Type.Enum(['portal', 'token', 'mcp', 'worker', 'webhook', 'operator'], {
      description: 'By which way: `mcp` is an assistant that acts for somebody, `operator` a script on the server’s machine.',
    }),
    tokenId: Type.Optional(Type.String({ description: 'The personal access token that was used.' })),
    program: Type.Optional(
      Type.String({
        description: 'The program that an assistant signed in with: its name, or the address of its metadata.',
        examples: ['https://assistant.example.com/oauth/metadata.json'],
      }),
    ),
  },
  { $id: 'Actor', description: 'Who has done something.' },
);
