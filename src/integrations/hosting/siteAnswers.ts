import type { Request, Response } from 'express';

/** Of every answer at a site's address. */
export const siteHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
};

/** In seconds. */
export const SHORT_AGE = 300;

/** Of answers that hold nothing of a site. */
export const elsewhere = {
  ...siteHeaders,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': `public, max-age=${String(SHORT_AGE)}`,
};

/** Caches keep nothing of it: a website that is brought back is served at once. */
const gone = {
  ...elsewhere,
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex',
};

const gonePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>This website is closed</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { display: grid; min-height: 100vh; margin: 0; place-content: center; text-align: center }
main { padding: 1.5rem }
h1 { margin: 0; font-size: 1.5rem }
</style>
</head>
<body>
<main>
<h1>This website is closed</h1>
<p>There is nothing to see here any more.</p>
</main>
</body>
</html>
`;

export const answerNothing = (response: Response): void => {
  response.set(elsewhere).status(404).type('text').send('Not found');
};

export const answerGone = (response: Response): void => {
  response.set(gone).status(410).type('html').send(gonePage);
};

/** For a while: the website may take the address back. */
export const answerMoved = (request: Request, response: Response, location: string): void => {
  response.set(elsewhere);
  if (request.method === 'GET' || request.method === 'HEAD') response.redirect(308, location);
  else answerMethodNotAllowed(response);
};

export const answerMethodNotAllowed = (response: Response): void => {
  response.set('Allow', 'GET, HEAD').status(405).type('text').send('Method not allowed');
};
