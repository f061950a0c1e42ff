import {
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
  type CallToolResult,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { serveRequest } from '../../mcp/src/protocol.js';
import type { McpProgram } from '../../src/http/mcp/port.js';
import { sleep, systemClock } from '../../src/platform/clock.js';

/** What the scenarios of `@modelcontextprotocol/conformance` call, on the transport of the service. */
export const serveHttp: McpProgram['serveHttp'] = (request, call) => serveRequest(request, call, createFixtures);

/** One red pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** No sample at all. */
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

const text = (words: string) => ({ type: 'text', text: words }) as const;
const image = { type: 'image', data: png, mimeType: 'image/png' } as const;
const said = (content: ReturnType<typeof text> | typeof image) => ({ role: 'user', content }) as const;

const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
};

const textsNamed = <Name extends string>(...required: readonly Name[]) =>
  fromJsonSchema<Readonly<Record<Name, string>>>({
    type: 'object',
    properties: Object.fromEntries(required.map((name) => [name, { type: 'string' }])),
    required: [...required],
  });

/** As our own tools ask: with programs of 2025 in the middle of the call, which needs a session. */
const elicit = (
  { mcpReq }: ServerContext,
  message: string,
  requestedSchema: ElicitRequestFormParams['requestedSchema'],
): CallToolResult | InputRequiredResult => {
  const answered = inputResponse(mcpReq.inputResponses, 'form');
  if (answered.kind !== 'elicit') {
    return inputRequired({ inputRequests: { form: inputRequired.elicit({ message, requestedSchema }) } });
  }
  const { action, content } = answered;
  return { content: [text(`User response: action=${action}, content=${JSON.stringify(content)}`)] };
};

const withDefaults: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};

const options = ['option1', 'option2', 'option3'];
const titled = ['First', 'Second', 'Third'].map((title, index) => ({ const: `value${String(index + 1)}`, title }));

const withChoices: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  },
};

export const createFixtures = (): McpServer => {
  const server = new McpServer(
    { name: 'fixtures', version: '1.0.0' },
    { capabilities: { logging: {}, completions: {}, resources: { subscribe: true } } },
  );
  const description = 'A fixture.';
  server.registerTool('test_simple_text', { description }, () => ({
    content: [text('This is a simple text response for testing.')],
  }));
  server.registerTool('test_image_content', { description }, () => ({ content: [image] }));
  server.registerTool('test_audio_content', { description }, () => ({
    content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  }));
  server.registerTool('test_embedded_resource', { description }, () => ({
    content: [
      {
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
      },
    ],
  }));
  server.registerTool('test_multiple_content_types', { description }, () => ({
    content: [
      text('Multiple content types test:'),
      image,
      {
        type: 'resource',
        resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' },
      },
    ],
  }));
  server.registerTool('test_tool_with_logging', { description }, async ({ mcpReq }) => {
    for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data: words } });
      await sleep(systemClock, 50);
    }
    return { content: [text('Done.')] };
  });
  server.registerTool('test_error_handling', { description }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool('test_tool_with_progress', { description }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      }
      await sleep(systemClock, 50);
    }
    return { content: [text('Done.')] };
  });
  server.registerTool('json_schema_2020_12_tool', { description, inputSchema: fromJsonSchema(schema2020) }, () => ({
    content: [text('Done.')],
  }));
  server.registerTool('test_sampling', { description, inputSchema: textsNamed('prompt') }, ({ prompt }, { mcpReq }) => {
    const answered = inputResponse(mcpReq.inputResponses, 'sample');
    if (answered.kind === 'sampling') {
      return { content: [text(`LLM response: ${JSON.stringify(answered.result.content)}`)] };
    }
    const sample = inputRequired.createMessage({ messages: [said(text(prompt))], maxTokens: 100 });
    return inputRequired({ inputRequests: { sample } });
  });
  server.registerTool('test_elicitation', { description, inputSchema: textsNamed('message') }, ({ message }, call) =>
    elicit(call, message, {
      type: 'object',
      properties: {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      },
      required: ['username', 'email'],
    }),
  );
  server.registerTool('test_elicitation_sep1034_defaults', { description }, (call) => elicit(call, 'Who?', withDefaults));
  server.registerTool('test_elicitation_sep1330_enums', { description }, (call) => elicit(call, 'Which?', withChoices));
  server.registerTool('test_reconnection', { description }, ({ http }) => {
    http?.closeSSE?.();
    return { content: [text('Said after the stream was closed.')] };
  });
  server.registerResource('text', 'test://static-text', { description, mimeType: 'text/plain' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }));
  server.registerResource('binary', 'test://static-binary', { description, mimeType: 'image/png' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: png }],
  }));
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description, mimeType: 'application/json' },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.server.setRequestHandler('logging/setLevel', () => ({}));
  server.server.setRequestHandler('completion/complete', () => ({ completion: { values: [], total: 0, hasMore: false } }));
  server.registerPrompt('test_simple_prompt', { description }, () => ({
    messages: [said(text('This is a simple prompt for testing.'))],
  }));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description, argsSchema: textsNamed('arg1', 'arg2') },
    ({ arg1, arg2 }) => ({ messages: [said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description, argsSchema: textsNamed('resourceUri') },
    ({ resourceUri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          },
        },
        said(text('Please process the embedded resource above.')),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description }, () => ({
    messages: [said(image), said(text('Please analyze the image above.'))],
  }));
  return server;
};
