import type { BrowserSignIn } from '../../integrations/identity/port.js';
import type { Brand } from '../../platform/brand.js';
import { html } from '../../platform/html.js';
import { textsOf, type Language } from '../../platform/texts/texts.js';
import { pagePolicy, type Reply } from '../reply.js';
import type { Portal } from './portal.js';

/** As browsers turn the names of `data-` attributes into those of properties. */
const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * The page that the portal runs in. What the portal has to know of the installation stands in the
 * page's attributes, so that it need not ask.
 * @param base path of the public address, without a trailing slash
 * @param signIn absent where browsers cannot sign in
 */
export const portalPageOf = (
  { version, script, styles, preloads }: Portal,
  {
    language,
    status,
    brand,
    base,
    signIn,
    hasOutbox,
    hasLedger,
    filesOrigin,
  }: {
    /** In which it says that it needs scripts; these choose theirs. */
    readonly language: Language;
    readonly status: number;
    readonly brand: Brand;
    readonly base: string;
    readonly signIn: BrowserSignIn | undefined;
    /** Whether admins can read the mails here. */
    readonly hasOutbox: boolean;
    /** Whether admins write the invoices by hand. */
    readonly hasLedger: boolean;
    /** Of the addresses of files, when it is not the service's own. */
    readonly filesOrigin: string | undefined;
  },
): Reply => {
  const assets = `${base}/app/assets`;
  const files = filesOrigin === undefined ? [] : [filesOrigin];
  const data = {
    base,
    version,
    brand: brand.name,
    logo: brand.logo,
    outbox: hasOutbox ? '' : undefined,
    ledger: hasLedger ? '' : undefined,
    ...signIn,
  };
  const attributes = Object.entries(data).flatMap(([name, value]) =>
    value === undefined ? [] : [html` data-${kebab(name)}="${value}"`],
  );
  const page = html`<!doctype html>
    <html lang="${language}" ${attributes}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${brand.name}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${assets}/brand.css" />
        ${styles.map((name) => html`<link rel="stylesheet" href="${assets}/${name}" />`)}
        ${preloads.map((name) => html`<link rel="modulepreload" href="${assets}/${name}" />`)}
        <script type="module" src="${assets}/${script}"></script>
      </head>
      <body>
        <div id="root"></div>
        <noscript><p>${textsOf(language).page.needsScripts}</p></noscript>
      </body>
    </html>`;
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy({
        connects: signIn === undefined ? [] : [new URL(signIn.tokenEndpoint).origin],
        pictures: [...(brand.logo === undefined ? [] : [new URL(brand.logo).origin]), ...files],
        frames: files,
      }),
      'cache-control': 'no-store',
    },
    body: page.markup,
  };
};
