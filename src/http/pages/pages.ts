import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { html } from '../../platform/html.js';
import type { Brand } from '../../platform/brand.js';
import { styleOf } from '../../platform/pageStyle.js';
import { IdentityUnavailable, type IdentityProvider } from '../../integrations/identity/port.js';
import type { Reply } from '../reply.js';
import { createFrame, type Frame } from './frame.js';
import { createAddressChangePage } from './addressChangePage.js';
import { createInvoicePage, invoiceStyle } from './invoicePage.js';
import type { ErasureParts } from '../../commands/erasure/erasure.handlers.js';
import type { Engine } from '../../engine.js';
import type { Ledger } from '../../integrations/payments/port.js';
import type { Reader } from '../../projections/reader.js';

export interface PageRequest {
  readonly method: string;
  readonly requestId: string;
  /** As it was sent, without the query. */
  readonly path: string;
  readonly query: () => URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Answers a request for a page; null when there is no such page. */
export type Pages = (request: PageRequest) => (() => Promise<Reply>) | null;

export interface PageParts {
  readonly engine: Engine;
  readonly erasure: ErasureParts;
  readonly brand: Brand;
  /** Public base address without a trailing slash. */
  readonly baseUrl: () => string;
  readonly identityProvider: IdentityProvider | null;
  readonly reader: Reader;
  /** Present with the embedded ledger. */
  readonly ledger?: Ledger | undefined;
  /** Where the scripts of the pages are. */
  readonly appFolder: string;
}

const scripts = ['main.js', 'dom.js', 'session.js', 'home.js', 'invitation.js', 'billing.js'] as const;

/** The pages whose content `app/main.js` makes, by the same paths. */
const scripted = [/^\/app\/$/, /^\/app\/callback$/, /^\/app\/invitations\/[^/]+$/, /^\/app\/websites\/[^/]+\/billing$/];

const invoice = /^\/app\/invoices\/([0-9a-z]+)$/;

const addressChange = /^\/app\/address-changes\/([^/]+)$/;

/** A link from before there were pages: programs read the invitation itself there. */
const oldLink = /^\/invitations\/([0-9a-z]+)$/;

const moreStyle = `
.aside:first-child { margin-top: 0; }
ul { margin: 0 0 20px; padding: 0; list-style: none; }
li { padding: 14px 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
li p { margin: 0; }
h2 { margin: 24px 0 8px; font-size: 20px; }
.quiet { color: var(--muted); font-size: 15px; }
main:focus { outline: none; }
.inline { display: inline; width: auto; padding: 0; border: 0; background: none; color: var(--brand-text); text-decoration: underline; }
button[disabled] { cursor: default; opacity: 0.65; }
`;

/** Pages for people: `/app/`, and what leads there. */
export const createPages = (parts: PageParts): Pages => {
  const { engine, erasure, brand, baseUrl, identityProvider, appFolder, reader, ledger } = parts;
  const base = (): string => new URL(baseUrl()).pathname.replace(/\/$/, '');
  const frame = createFrame(brand, base);
  const invoicePage = ledger && createInvoicePage({ frame, brand, ledger, reader });

  const addressChangePage = createAddressChangePage({ engine, erasure, frame, brand, base });

  const assets = new Map<string, () => Reply>([
    ['style.css', asset('text/css; charset=utf-8', () => styleOf(brand) + moreStyle + invoiceStyle)],
    ...scripts.map(
      (name) => [name, asset('text/javascript; charset=utf-8', () => readFileSync(join(appFolder, name), 'utf8'))] as const,
    ),
  ]);

  const redirect = (path: string): Promise<Reply> =>
    Promise.resolve({ status: 302, headers: { location: base() + path, 'cache-control': 'no-store' } });

  const scriptedPage = async (status: number): Promise<Reply> => {
    try {
      const signIn = await identityProvider?.signIn?.();
      return frame({ status, ...shell, script: { ...signIn }, ...(signIn !== undefined && { connects: originsOf(signIn) }) });
    } catch (error) {
      if (!(error instanceof IdentityUnavailable)) throw error;
      return unavailable(frame);
    }
  };

  return ({ method, path, query, headers, requestId }) => {
    const [, changeId] = addressChange.exec(path) ?? [];
    if (changeId !== undefined && ['GET', 'HEAD', 'POST'].includes(method)) {
      return () => addressChangePage({ changeId, key: query().get('key') ?? '', confirms: method === 'POST', requestId });
    }
    if (method !== 'GET' && method !== 'HEAD') return null;
    if (path === '/' || path === '/app') return () => redirect('/app/');
    if (path.startsWith('/app/')) {
      const found = assets.get(path.slice('/app/assets/'.length));
      if (path.startsWith('/app/assets/')) return found === undefined ? null : () => Promise.resolve(found());
      const [, invoiceId] = invoice.exec(path) ?? [];
      if (invoicePage !== undefined && invoiceId !== undefined) return () => invoicePage(invoiceId, query().get('key') ?? '');
      return () => scriptedPage(scripted.some((page) => page.test(path)) ? 200 : 404);
    }
    const [, invitationId] = oldLink.exec(path) ?? [];
    const isBrowser = headers.authorization === undefined && (headers.accept ?? '').includes('text/html');
    return invitationId !== undefined && isBrowser ? () => redirect(`/app/invitations/${invitationId}`) : null;
  };
};

/** Read on first use, and revalidated by browsers, so that a new version is seen at once. */
const asset = (contentType: string, read: () => string): (() => Reply) => {
  let reply: Reply | undefined;
  return () => {
    if (reply === undefined) {
      const body = read();
      const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
      reply = { status: 200, headers: { 'content-type': contentType, 'cache-control': 'public, no-cache', etag }, body };
    }
    return reply;
  };
};

/** What stands there until the script has run. */
const shell = {
  title: 'Your websites',
  content: html`<p class="quiet" id="wait">One moment…</p>
    <noscript><p class="problem">This page needs JavaScript. Allow it in your browser, then load the page again.</p></noscript>`,
};

const originsOf = ({ tokenEndpoint }: { readonly tokenEndpoint: string }): readonly string[] => [new URL(tokenEndpoint).origin];

const unavailable = (frame: Frame): Reply =>
  frame({
    status: 503,
    title: 'Not just now',
    content: html`<h1>Signing in is not possible just now</h1>
      <p>The service that signs people in does not answer. Wait a minute, then load this page again.</p>`,
    headers: { 'retry-after': '30' },
  });
