import type { ContentDocument } from '@doorstep/sdk';
import type { TFunction } from 'i18next';
import { brandName } from '../../page.js';

type Actor = NonNullable<ContentDocument['updatedBy']>;

/** Who it was. The agency's people may have no name here, and stand for the agency; a subject is no name for readers. */
export const actorName = (actor: Pick<Actor, 'name' | 'role'> | undefined, t: TFunction): string =>
  actor?.name ?? (actor?.role === 'admin' ? brandName : t('content.somebody'));
