import type { Mail } from '../../email/port.js';
import { html } from './html.js';

/** The mail with the one-time link and code. `until` is in milliseconds since the Unix epoch. */
export const composeSignInMail = (sent: {
  readonly link: string;
  readonly code: string;
  readonly until: number;
}): Pick<Mail, 'subject' | 'text' | 'html'> => {
  const { link, code } = sent;
  const until = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' }).format(new Date(sent.until));
  const once = `Either works once, until ${until} UTC.`;
  const caution =
    'Nobody from Doorstep ever asks for this code. If you did not ask to sign in, ignore this mail; nothing happens.';
  return {
    subject: 'Sign in to Doorstep',
    text: `Sign in to Doorstep\n\nOpen this link in the browser in which you began:\n${link}\n\nOr type in this code there: ${code}\n\n${once}\n\n${caution}\n`,
    html: html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>Sign in to Doorstep</title>
        </head>
        <body
          style="margin:0;background-color:#f3f5f7;color:#1f2933;font:16px/1.6 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
        >
          <div style="max-width:496px;margin:24px auto;padding:32px;background-color:#ffffff;border-radius:12px">
            <h1 style="margin:0 0 16px;font-size:24px;line-height:1.3">Sign in to Doorstep</h1>
            <p>Open this link in the browser in which you began:</p>
            <p>
              <a
                href="${link}"
                style="display:inline-block;padding:14px 28px;border-radius:8px;background-color:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none"
                >Sign in</a
              >
            </p>
            <p>Or type in this code there:</p>
            <p style="font-size:28px;font-weight:700;letter-spacing:2px">${code}</p>
            <p style="font-size:14px;color:#52606d">${once}</p>
            <p style="font-size:14px;color:#52606d">${caution}</p>
          </div>
        </body>
      </html>`.markup,
  };
};
