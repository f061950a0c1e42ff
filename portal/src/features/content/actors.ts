import type { ContentDocument } from '@doorstep/sdk';

type Actor = NonNullable<ContentDocument['updatedBy']>;

/** Who it was, as far as it is known: a name, else what the identity provider calls them. */
export const actorName = ({ name, subject }: Pick<Actor, 'name' | 'subject'>): string => name ?? subject;
