import type { Mail } from '../../integrations/email/port.js';
import { paletteOf, type Brand } from '../../platform/brand.js';
import { Html, html } from '../../platform/html.js';

/** What a notice says: a heading, paragraphs, and perhaps one way to go on. */
export interface Notice {
  readonly heading: string;
  readonly paragraphs: readonly string[];
  readonly action?: { readonly words: string; readonly link: string };
}

/** A mail in the agency's name: subject, HTML and the same in plain text. */
export const composeNotice = (
  { heading: given, paragraphs, action }: Notice,
  brand: Brand,
): Pick<Mail, 'subject' | 'html' | 'text'> => {
  const heading = oneLine(given);
  const { ground, surface, brand: fill, brandInk, brandText } = paletteOf(brand, 'light');
  const button = ({ words, link }: NonNullable<Notice['action']>): Html =>
    html`<p style="margin:24px 0">
        <a
          href="${link}"
          style="display:inline-block;padding:14px 28px;border-radius:8px;background:${fill};color:${brandInk};font-weight:600;text-decoration:none"
          >${words}</a
        >
      </p>
      <p style="font-size:14px">
        If the button does not work, open this address:<br /><a href="${link}" style="color:${brandText};overflow-wrap:anywhere"
          >${link}</a
        >
      </p>`;
  return {
    subject:
      heading.length <= maxSubjectLength
        ? heading
        : `${Array.from(heading)
            .slice(0, maxSubjectLength - 1)
            .join('')}…`,
    html: html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${heading}</title>
        </head>
        <body style="margin:0;padding:24px 16px;background:${ground}">
          <div
            style="max-width:560px;margin:0 auto;padding:32px;border-radius:12px;background:${surface};color:#1f2933;font:16px/1.6 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;overflow-wrap:anywhere"
          >
            <p style="margin:0 0 16px;font-weight:700">${brand.name}</p>
            <h1 style="margin:0 0 16px;font-size:24px;line-height:1.3">${heading}</h1>
            ${paragraphs.map((words) => html`<p style="margin:0 0 16px">${words}</p>`)}
            ${action === undefined ? new Html('') : button(action)}
          </div>
        </body>
      </html>`.markup,
    text: [heading, ...paragraphs, ...(action === undefined ? [] : [`${action.words}:\n${action.link}`]), brand.name, ''].join(
      '\n\n',
    ),
  };
};

/** A line break in a subject would begin another header. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();

const maxSubjectLength = 150;
