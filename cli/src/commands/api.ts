import { argument, choiceArgument, command, flag, list, text, type Command } from '../command.js';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const inCapitals = choiceArgument(methods, 'The method');
const method: typeof inCapitals = { ...inCapitals, parse: (typed) => inCapitals.parse(typed.toUpperCase()) };

/** Calls whatever no other command calls. */
export const apiCommands: readonly Command[] = [
  command({
    name: 'api',
    summary: 'Call a path of the API',
    description:
      'Fields become the JSON body of a write, and the query of a GET or DELETE. A value true, false, null or a number is sent as such, @file is read from a file and @- from standard input; "features[]=cms" adds to a list, "client[name]=Anna" sets a field inside.',
    examples: [
      ['Read a resource', 'api GET /me'],
      ['Write one', 'api POST /websites --field name="Corner Bakery" --field slug=corner-bakery'],
      ['Every page of a list, and one field of each', "api GET /clients --paginate --jq '.[].email'"],
      ['A body from a file', 'api PUT /websites/01hx/delivery --input delivery.json'],
    ],
    operations: [],
    arguments: { method, path: argument('The path, without /v1') },
    options: {
      field: list('A field; numbers, true, false, null and @file are read as such', { short: 'F', placeholder: 'key=value' }),
      rawField: list('A field whose value is text', { short: 'f', placeholder: 'key=value' }),
      input: text('Read the body from a file, or from - for standard input', { placeholder: 'file', completes: 'file' }),
      header: list('A header of the request', { short: 'H', placeholder: 'name:value' }),
      include: flag('Print status and headers of the answer as well', { short: 'i' }),
      paginate: flag('Read all pages of a list'),
    },
    write: true,
    run: async (context, args, options) => {
      const { callApi } = await import('../api.js');
      await callApi(context, args, options);
    },
  }),
];
