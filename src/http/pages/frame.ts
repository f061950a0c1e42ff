import { brandHeader } from '../../platform/brandHeader.js';
import { html, type Html } from '../../platform/html.js';
import type { Brand } from '../../platform/brand.js';
import type { Language } from '../../platform/texts/texts.js';
import { pagePolicy } from '../reply.js';
import type { Reply } from '../reply.js';

/** A page for people, below `/app/`, that runs no script. */
export interface FramedPage {
  readonly language: Language;
  readonly status?: number;
  readonly title: string;
  readonly content: Html;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Puts content into a page in the agency's name. */
export type Frame = (page: FramedPage) => Reply;

/**
 * The frame of the pages that the service writes itself: the agency's name and style, and a policy by
 * which the browser loads only what is served below `/app/`.
 * @param base path of the public address, without a trailing slash
 */
export const createFrame =
  (brand: Brand, base: () => string): Frame =>
  ({ language, status = 200, title, content, headers }) => {
    const assets = `${base()}/app/assets`;
    const page = html`<!doctype html>
      <html lang="${language}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="robots" content="noindex" />
          <title>${title} – ${brand.name}</title>
          <link rel="icon" href="data:," />
          <link rel="stylesheet" href="${assets}/style.css" />
        </head>
        <body>
          <div class="card">
            ${brandHeader(brand)}
            <main id="main" tabindex="-1">${content}</main>
          </div>
        </body>
      </html>`;
    return {
      status,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': pagePolicy({
          connects: [],
          pictures: brand.logo === undefined ? [] : [new URL(brand.logo).origin],
        }),
        'cache-control': 'no-store',
        ...headers,
      },
      body: page.markup,
    };
  };
