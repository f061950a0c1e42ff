import { DoorstepError } from '@doorstep/sdk';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { reportFault } from '../live/connection.js';
import { isSessionOver, reportSessionOver } from './sessionOver.js';

/** Every question and every change may learn that the session is over, or that the service cannot be reached. */
const onError = (error: Error): void => {
  reportFault(error);
  if (isSessionOver(error)) reportSessionOver();
};

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      // Asked whatever the browser thinks of its network: the service may run on this machine.
      networkMode: 'always',
      // What changes is reported by the event stream; this is for what is not.
      staleTime: 30_000,
      // The SDK repeats what may pass.
      retry: false,
      // What failed just now, while the code of the page came, is not asked for a second time by the page.
      retryOnMount: ({ state }) => Date.now() - state.errorUpdatedAt > 5_000,
      throwOnError: (error) => !(error instanceof DoorstepError) && !isSessionOver(error),
    },
    mutations: { networkMode: 'always', retry: false },
  },
});
