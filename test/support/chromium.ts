import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));

/**
 * Whether pages can be tried in a real browser here. CI installs it: there, not having it is a
 * failure.
 */
export const hasChromium = executablePath !== undefined || process.env.CI === 'true';

if (!hasChromium) console.info('Chromium is not installed (apt-get install chromium): pages are not tried in a browser.');

export const startChromium = (): Promise<Browser> =>
  chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
