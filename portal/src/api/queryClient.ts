import { DoorstepError } from '@doorstep/sdk';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isSessionOver, reportSessionOver } from './sessionOver.js';

/** Every question and every change may be told that the session is over. */
const onError = (error: Error): void => {
  if (isSessionOver(error)) reportSessionOver();
};

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      // What changes is reported by the event stream; this is for what is not.
      staleTime: 30_000,
      // The SDK repeats what may pass.
      retry: false,
      throwOnError: (error) => !(error instanceof DoorstepError) && !isSessionOver(error),
    },
    mutations: { retry: false },
  },
});
