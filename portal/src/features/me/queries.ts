import type { GetMeResponse } from '@doorstep/sdk';
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { doorstep } from '../../api/doorstep.js';
import { meKeys } from './keys.js';

export type Me = GetMeResponse;

/** Who is signed in, and what they have. */
export const meQuery = queryOptions({ queryKey: meKeys.me, queryFn: ({ signal }) => doorstep.me.get({ signal }) });

/** Within the frame, which waits for it. */
export const useMe = (): Me => useSuspenseQuery(meQuery).data;
