import { completable, type GetPromptResult, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { offeredWebsites, type ResourceParts } from './resources.js';

const ask = (text: string): GetPromptResult => ({ messages: [{ role: 'user', content: { type: 'text', text } }] });

/** Tasks that come again and again, as people would ask for them. */
export const addPrompts = (server: McpServer, parts: ResourceParts): void => {
  const Slug = completable(z.string().min(1).max(100).describe('Slug of the website'), async (value) =>
    (await offeredWebsites(parts, value)).map(({ slug }) => slug),
  );
  server.registerPrompt(
    'weekly_update',
    {
      title: 'Weekly update to a client',
      description: 'A short mail to a client: what was done, what comes next, what is needed from them.',
      argsSchema: z.object({ website: Slug }),
    },
    ({ website }) =>
      ask(
        [
          `Write a short weekly update to the client of the website ${JSON.stringify(website)}.`,
          'Call website_status, and delivery_history for the changes of the last seven days.',
          'Say when the website will be ready; when the date moved, say from when to when, and the reason only if clients may see it.',
          'Then: what was done this week, what comes next with its date, and what is needed from them.',
          'Friendly and plain, at most 150 words. Do not send it; show it to me.',
        ].join('\n'),
      ),
  );
  if (parts.caller.role !== 'admin') return;
  server.registerPrompt(
    'whats_late',
    { title: 'What is late, and why', description: 'All websites that are late, failed or waiting, the most urgent first.' },
    () =>
      ask(
        [
          'List what is late, and why.',
          'Call find_websites with attention late, failed and waiting, and website_status and delivery_history for those that it finds.',
          'For each: how late, at which checkpoint, what it waits for and who has to act. The most urgent first, one line each.',
          'Then propose the next step for the first three. Change nothing.',
        ].join('\n'),
      ),
  );
};
