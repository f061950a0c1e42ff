import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { httpErrors } from '../../errors.js';
import { pageSecurityPolicy } from '../../reply.js';
import type { Answer } from '../../route.js';

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** What the page loads from the package, and as what. */
const assets: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/**
 * The page that shows the OpenAPI document; everything it loads is served here. `base` is the path
 * of the public address, without a trailing slash.
 */
export const docsPage = (base: string): Answer => ({
  headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pageSecurityPolicy },
  body: Buffer.from(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Doorstep API</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${escape(base)}/docs/swagger-ui.css" />
  </head>
  <body>
    <div id="docs"></div>
    <script src="${escape(base)}/docs/swagger-ui-bundle.js"></script>
    <script src="${escape(base)}/docs/start.js"></script>
  </body>
</html>
`),
});

/** A file that the page loads. @throws Refused: `Not found` */
export const docsFile = async (name: string, base: string): Promise<Answer> => {
  const cached = { 'cache-control': 'public, max-age=3600' };
  if (name === 'start.js') {
    const options = { url: `${base}/openapi.json`, dom_id: '#docs', deepLinking: true, validatorUrl: null };
    return {
      headers: { ...cached, 'content-type': 'text/javascript; charset=utf-8' },
      body: Buffer.from(`SwaggerUIBundle(${JSON.stringify(options)});\n`),
    };
  }
  const contentType = Object.hasOwn(assets, name) ? assets[name] : undefined;
  if (contentType === undefined) throw httpErrors.notFound();
  return { headers: { ...cached, 'content-type': contentType }, body: await readFile(join(folder, name)) };
};
