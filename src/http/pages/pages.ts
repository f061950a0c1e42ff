import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { html } from '../../platform/html.js';
import type { Brand } from '../../platform/brand.js';
import { brandStyleOf, styleOf } from '../../platform/pageStyle.js';
import { IdentityUnavailable, type IdentityProvider } from '../../integrations/identity/port.js';
import { httpErrors } from '../errors.js';
import type { Reply } from '../reply.js';
import { createFrame, type Frame } from './frame.js';
import { languageOf } from '../../platform/texts/languageOf.js';
import { textsOf, type Language } from '../../platform/texts/texts.js';
import { createAddressChangePage } from './addressChangePage.js';
import { openPortal, type Portal } from './portal.js';
import { portalPageOf } from './portalPage.js';
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
  readonly headers: IncomingHttpHeaders;
}

/** Answers a request for a page, with 405 when it does not take the method; null when there is no such page. */
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
  /** Whether mails are kept here, for admins to read. */
  readonly hasOutbox: boolean;
  /** Where the built portal is. */
  readonly portalFolder: string;
  /** Of the addresses of files, when it is not the service's own. */
  readonly filesOrigin: string | undefined;
}

const invoice = /^\/app\/invoices\/([0-9a-z]+)$/;

const addressChange = /^\/app\/address-changes\/([^/]+)$/;

/** A link from before there were pages: programs read the invitation itself there. */
const oldLink = /^\/invitations\/([0-9a-z]+)$/;

/** Pages for people: `/app/`, and what leads there. */
export const createPages = (parts: PageParts): Pages => {
  const { engine, erasure, brand, baseUrl, identityProvider, portalFolder, filesOrigin, reader, ledger, hasOutbox } = parts;
  const base = (): string => new URL(baseUrl()).pathname.replace(/\/$/, '');
  const frame = createFrame(brand, base);
  const invoicePage = ledger && createInvoicePage({ frame, brand, ledger, reader });

  const addressChangePage = createAddressChangePage({ engine, erasure, frame, brand, base });

  const styles = new Map<string, () => Reply>([
    ['style.css', styleSheet(() => styleOf(brand) + invoiceStyle)],
    ['brand.css', styleSheet(() => brandStyleOf(brand))],
  ]);

  let opened: Portal | undefined;
  const portal = (): Portal => (opened ??= openPortal(portalFolder));

  const hasPage = (path: string): boolean => portal().hasPage(path.slice('/app'.length));

  const redirect = (path: string): Promise<Reply> =>
    Promise.resolve({ status: 302, headers: { location: base() + path, 'cache-control': 'no-store' } });

  const portalPage = async (path: string, language: Language): Promise<Reply> => {
    const status = hasPage(path) ? 200 : 404;
    try {
      const signIn = await identityProvider?.signIn?.();
      const installation = { brand, base: base(), signIn, hasOutbox, hasLedger: ledger !== undefined, filesOrigin };
      return portalPageOf(portal(), { language, status, ...installation });
    } catch (error) {
      if (!(error instanceof IdentityUnavailable)) throw error;
      return unavailable(frame, language);
    }
  };

  /** What is at the path, whatever the method. */
  const find: Pages = ({ method, path, query, headers, requestId }) => {
    const isRead = method === 'GET' || method === 'HEAD';
    const language = languageOf({ acceptLanguage: headers['accept-language'] });
    const [, changeId] = addressChange.exec(path) ?? [];
    if (changeId !== undefined) {
      const key = query().get('key') ?? '';
      return () => addressChangePage({ changeId, key, confirms: method === 'POST', requestId, language });
    }
    if (path === '/' || path === '/app') return () => redirect('/app/');
    if (path.startsWith('/app/')) {
      if (path.startsWith('/app/assets/')) {
        const name = path.slice('/app/assets/'.length);
        const found = styles.get(name)?.() ?? portal().file(name, headers['accept-encoding'] ?? '');
        return found === null ? null : () => Promise.resolve(found);
      }
      const [, invoiceId] = invoice.exec(path) ?? [];
      if (invoicePage !== undefined && invoiceId !== undefined) {
        return () => invoicePage(invoiceId, query().get('key') ?? '', language);
      }
      return isRead || hasPage(path) ? () => portalPage(path, language) : null;
    }
    const [, invitationId] = oldLink.exec(path) ?? [];
    const isBrowser = headers.authorization === undefined && (headers.accept ?? '').includes('text/html');
    return invitationId !== undefined && isBrowser && isRead ? () => redirect(`/app/invitations/${invitationId}`) : null;
  };

  return (request) => {
    const page = find(request);
    const methods = addressChange.test(request.path) ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
    if (page === null || methods.includes(request.method)) return page;
    const allow = [...methods, 'OPTIONS'].sort().join(', ');
    if (request.method === 'OPTIONS') return () => Promise.resolve({ status: 204, headers: { allow } });
    return () => Promise.reject(httpErrors.methodNotAllowed(allow));
  };
};

/** Made on first use, and revalidated by browsers, so that a change of the settings is seen at once. */
const styleSheet = (make: () => string): (() => Reply) => {
  let reply: Reply | undefined;
  return () => {
    if (reply === undefined) {
      const body = make();
      const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
      const headers = { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, no-cache', etag };
      reply = { status: 200, headers, body };
    }
    return reply;
  };
};

const unavailable = (frame: Frame, language: Language): Reply => {
  const { title, text } = textsOf(language).unavailable;
  return frame({
    language,
    status: 503,
    title,
    content: html`<h1>${title}</h1>
      <p>${text}</p>`,
    headers: { 'retry-after': '30' },
  });
};
