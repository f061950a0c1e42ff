/**
 * Opens an address in the person's browser: `BROWSER` where it is set, otherwise what the system has.
 * @throws when there is no such program
 */
export const openBrowser = async (address: string, environment: NodeJS.ProcessEnv): Promise<void> => {
  const { default: open } = await import('open');
  const browser = environment.BROWSER;
  const launched = await open(address, browser === undefined || browser === '' ? {} : { app: { name: browser } });
  // It runs on by itself: how it ends is not this program's.
  launched.on('error', () => undefined);
};
