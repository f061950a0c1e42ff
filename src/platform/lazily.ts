/**
 * Loads something with the first call and keeps it for all others. A load that fails is not kept:
 * the next call tries again.
 */
export const lazily = <Loaded>(load: () => Promise<Loaded>): (() => Promise<Loaded>) => {
  let loading: Promise<Loaded> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
};
