import type { ContentDocument } from '@doorstep/sdk';
import { brandName } from '../../page.js';

type Actor = NonNullable<ContentDocument['updatedBy']>;

/** Who it was, as far as it is known: the agency's people may have no name here, and stand for the agency. */
export const actorName = ({ name, subject, role }: Pick<Actor, 'name' | 'subject' | 'role'>): string =>
  name ?? (role === 'admin' ? brandName : subject);
