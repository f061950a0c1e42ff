import { docsStyle } from './docsStyle.js';

type Json = Readonly<Record<string, unknown>>;

interface Operation extends Json {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Json[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Json>>;
  readonly 'x-error-codes': Readonly<Record<string, readonly string[]>>;
}

type Content = Readonly<Record<string, { readonly schema: Json; readonly example?: unknown }>>;

interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly summary: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, Json>>;
    readonly schemas: Readonly<Record<string, Json>>;
  };
}

/**
 * The page that shows the OpenAPI document. It is whole as it is sent: it runs no script and loads
 * nothing. `base` is the path of the public address, without a trailing slash.
 */
export const docsPage = (document: object, base: string): string => pageOf(document as ApiDocument, base);

const pageOf = (document: ApiDocument, base: string): string => {
  const { info, servers, tags, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const byTag = tags.map((tag) => ({ ...tag, all: operations.filter(({ operation }) => operation.tags.includes(tag.name)) }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escape(info.summary)}">
<title>${escape(info.title)} API</title>
<link rel="icon" href="data:,">
<style>${docsStyle}</style>
</head>
<body>
<header>
<h1>${escape(info.title)} API <small>${escape(info.version)}</small></h1>
<p>${escape(info.summary)}</p>
<p><a href="${escape(base)}/openapi.json">openapi.json</a> is this page for programs, for generators and for API clients.</p>
</header>
<nav aria-label="Operations">
${byTag.map(indexOfTag).join('\n')}
<p><a href="#schemas">Schemas</a></p>
</nav>
<main>
<section>${markdown(info.description)}
<h2>Addresses</h2>
<dl>${servers.map(({ url, description }) => `<dt><code>${escape(url)}</code></dt><dd>${inline(description)}</dd>`).join('')}</dl>
</section>
${byTag
  .map(
    ({ name, description, all }) => `<section><h2 id="${anchor(name)}">${escape(name)}</h2>${markdown(description)}
${all.map((one) => operationPart(one, components.parameters)).join('\n')}</section>`,
  )
  .join('\n')}
<section><h2 id="schemas">Schemas</h2>
${Object.entries(components.schemas)
  .map(([name, schema]) => `<article><h3 id="schema-${escape(name)}">${escape(name)}</h3>${schemaPart(schema)}</article>`)
  .join('\n')}
</section>
</main>
</body>
</html>
`;
};

type Listed = { readonly path: string; readonly method: string; readonly operation: Operation };

const indexOfTag = ({ name, all }: { readonly name: string; readonly all: readonly Listed[] }): string =>
  `<details><summary>${escape(name)}</summary><ul>${all
    .map(({ operation: { operationId, summary } }) => `<li><a href="#${escape(operationId)}">${inline(summary)}</a></li>`)
    .join('')}</ul></details>`;

const operationPart = ({ path, method, operation }: Listed, shared: Readonly<Record<string, Json>>): string => {
  const { operationId, summary, description, parameters, requestBody, responses, 'x-error-codes': codes } = operation;
  const all = parameters.map((parameter) => shared[nameOf(parameter)] ?? parameter);
  return `<article><h3 id="${escape(operationId)}">${inline(summary)}</h3>
<p class="call"><b>${method.toUpperCase()}</b> <code>${escape(path)}</code></p>
${markdown(description)}
${all.length === 0 ? '' : `<h4>Parameters</h4><dl>${all.map(parameterPart).join('')}</dl>`}
${requestBody === undefined ? '' : `<h4>Body</h4>${contentPart(requestBody.content)}`}
<h4>Answers</h4>
${Object.entries(responses)
  .filter(([status]) => Number(status) < 400)
  .map(([status, response]) => answerPart(status, response))
  .join('')}
<h4>Errors</h4>
<dl>${Object.entries(codes)
    .map(([status, own]) => `<dt>${status}</dt><dd>${own.map((code) => `<code>${escape(code)}</code>`).join(', ')}</dd>`)
    .join('')}</dl>
</article>`;
};

const textOf = (text: unknown): string => (typeof text === 'string' ? text : '');

const parameterPart = ({ name, in: place, required, description, schema }: Json): string =>
  `<dt><code>${escape(name)}</code> <span>${escape(place)}, ${typeOf(schema as Json)}${required === true ? ', required' : ''}</span></dt>
<dd>${inline(textOf(description))}</dd>`;

const answerPart = (status: string, { description, content }: Json): string =>
  `<p><b>${status}</b> ${inline(textOf(description))}</p>${content === undefined ? '' : contentPart(content as Content)}`;

const contentPart = (content: Content): string =>
  Object.entries(content)
    .map(
      ([type, { schema, example }]) =>
        `<p><code>${escape(type)}</code>: ${typeOf(schema)}</p>${example === undefined ? '' : examplePart(example)}`,
    )
    .join('');

const examplePart = (example: unknown): string =>
  `<details><summary>Example</summary><pre>${escape(typeof example === 'string' ? example : JSON.stringify(example, null, 2))}</pre></details>`;

const schemaPart = (schema: Json): string => {
  const { description, properties = {}, required = [] } = schema;
  const parts = Object.entries(properties as Readonly<Record<string, Json>>).map(
    ([name, own]) =>
      `<dt><code>${escape(name)}</code> <span>${typeOf(own)}${
        (required as readonly string[]).includes(name) ? '' : ', optional'
      }</span></dt><dd>${inline(textOf(own.description))}</dd>`,
  );
  return `${markdown(textOf(description))}${parts.length === 0 ? `<p>${typeOf(schema)}</p>` : `<dl>${parts.join('')}</dl>`}`;
};

/** What a schema asks for in a few words, with links to schemas that have a name. */
const typeOf = (schema: Json): string => {
  const name = nameOf(schema);
  if (name !== '') return `<a href="#schema-${escape(name)}">${escape(name)}</a>`;
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.map((value) => `<code>${escape(value)}</code>`).join(', ')}`;
  if (schema.const !== undefined) return `<code>${escape(schema.const)}</code>`;
  const branches = (schema.anyOf ?? schema.oneOf) as readonly Json[] | undefined;
  if (branches !== undefined) return branches.map(typeOf).join(' or ');
  switch (schema.type) {
    case 'array':
      return `list of ${typeOf((schema.items ?? {}) as Json)}`;
    case 'object': {
      const inside = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Json>>);
      return inside.length === 0 ? 'object' : `{ ${inside.map(([own, type]) => `${escape(own)}: ${typeOf(type)}`).join('; ')} }`;
    }
    case 'string':
      return 'text';
    case undefined:
      return 'anything';
    default:
      return escape(schema.type);
  }
};

const nameOf = ({ $ref }: Json): string => (typeof $ref === 'string' ? ($ref.split('/').at(-1) ?? '') : '');

const anchor = (name: string): string => `tag-${name.toLowerCase().replaceAll(/\W+/g, '-')}`;

/** The Markdown that descriptions use: paragraphs, lists, `code` and **bold**. */
const markdown = (text: string): string =>
  text
    .split(/\n{2,}/)
    .map((block) => {
      if (!block.startsWith('- ')) return `<p>${inline(block)}</p>`;
      const items = block.split(/\n(?=- )/).map((item) => `<li>${inline(item.slice(2))}</li>`);
      return `<ul>${items.join('')}</ul>`;
    })
    .join('\n');

const inline = (text: string): string =>
  escape(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');

const escape = (text: unknown): string =>
  String(text).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
