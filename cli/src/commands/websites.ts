import { choice, command, defined, number, text, type Command } from '../command.js';

/** Commands on websites themselves. */
export const websiteCommands: readonly Command[] = [
  command({
    name: 'websites list',
    summary: 'List websites',
    examples: [
      ['The newest websites', 'websites list'],
      ['Those that are late, for a script', 'websites list --attention late --json id,slug'],
    ],
    operations: ['listWebsites'],
    options: {
      status: choice(['provisioning', 'active'], 'Only those of this status'),
      attention: choice(['failed', 'late', 'waiting'], 'Only those that need attention'),
      query: text('Only those whose name or slug holds this', { short: 'q' }),
      limit: number('At most so many', { short: 'l' }),
    },
    run: async ({ output, doorstep }, _args, { status, attention, query, limit }) => {
      const client = await doorstep();
      const websites = await client.websites.list(defined({ status, attention, q: query, limit }));
      await output.list(
        websites,
        [
          { heading: 'slug', value: ({ slug }) => slug },
          { heading: 'name', value: ({ name }) => name },
          { heading: 'status', value: (website) => website.status },
          { heading: 'id', value: ({ id }) => id, style: (shown, style) => style.dim(shown) },
        ],
        'No websites.',
      );
    },
  }),
];
