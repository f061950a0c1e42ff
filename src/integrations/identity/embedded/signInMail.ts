import { paletteOf, type Brand } from '../../../platform/brand.js';
import type { Mail } from '../../email/port.js';
import { Html, html } from '../../../platform/html.js';

/** The mail with the one-time link and code. `until` is in milliseconds since the Unix epoch. */
export const composeSignInMail = (
  sent: { readonly link: string; readonly code: string; readonly until: number },
  brand: Brand,
): Pick<Mail, 'subject' | 'text' | 'html'> => {
  const { link, code } = sent;
  const until = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' }).format(new Date(sent.until));
  const once = `Either works once, until ${until} UTC.`;
  const caution = `Nobody from ${brand.name} ever asks for this code. If you did not ask to sign in, ignore this mail; nothing happens.`;
  const heading = `Sign in to ${brand.name}`;
  const { ground, surface, brand: fill, brandInk, brandEdge } = paletteOf(brand, 'light');
  const logo =
    brand.logo === undefined
      ? new Html('')
      : html`<p style="margin:0 0 16px"><img src="${brand.logo}" alt="${brand.name}" height="48" style="max-width:100%" /></p>`;
  return {
    subject: heading,
    text: `${heading}\n\nOpen this link in the browser in which you began:\n${link}\n\nOr type in this code there: ${code}\n\n${once}\n\n${caution}\n`,
    html: html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <meta name="supported-color-schemes" content="light dark" />
          <title>${heading}</title>
          <style>
            ${darkStyle(brand)}
          </style>
        </head>
        <body
          class="ground"
          style="margin:0;background-color:${ground};color:#1f2933;font:16px/1.6 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
        >
          <div class="card" style="max-width:496px;margin:24px auto;padding:32px;background-color:${surface};border-radius:12px">
            ${logo}
            <h1 style="margin:0 0 16px;font-size:24px;line-height:1.3">${heading}</h1>
            <p>Open this link in the browser in which you began:</p>
            <p>
              <a
                href="${link}"
                style="display:inline-block;padding:14px 28px;border:1px solid ${brandEdge};border-radius:8px;background-color:${fill};color:${brandInk};font-weight:600;text-decoration:none"
                >Sign in</a
              >
            </p>
            <p>Or type in this code there:</p>
            <p style="font-size:28px;font-weight:700;letter-spacing:2px">${code}</p>
            <p class="quiet" style="font-size:14px;color:#52606d">${once}</p>
            <p class="quiet" style="font-size:14px;color:#52606d">${caution}</p>
          </div>
        </body>
      </html>`.markup,
  };
};

/** Wins over the styles of the elements, which are for mail programs that know no style sheets. */
const darkStyle = (brand: Brand): Html => {
  const { ground, surface, text, muted } = paletteOf(brand, 'dark');
  return new Html(`
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  .ground { background-color: ${ground} !important; color: ${text} !important; }
  .card { background-color: ${surface} !important; }
  .quiet { color: ${muted} !important; }
}
`);
};
