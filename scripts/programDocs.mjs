/** The page of what calls each operation of the API: a method, a command, a tool, or why none does. */
import { table } from './markdown.mjs';
import { groupsOf, operationsOf, sdkMethods } from './sdkModel.mjs';

/**
 * A command of the CLI, or a tool of the MCP server.
 * @typedef {{ readonly name: string, readonly operations: readonly string[], readonly hidden?: boolean }} Program
 */

/**
 * @typedef {object} Programs
 * @property {import('./sdkModel.mjs').Document} document
 * @property {Readonly<Record<string, import('./sdkModel.mjs').Entry>>} entries - of `sdk/methods.json`
 * @property {readonly Program[]} commands
 * @property {Readonly<Record<string, string>>} withoutCommand - why, by operation
 * @property {readonly Program[]} tools
 * @property {Readonly<Record<string, string>>} withoutTool
 */

/** @typedef {{ callers: readonly string[], reason: string | undefined }} Coverage */

/**
 * What calls each operation, and what is wrong with the lists that say so.
 * @param {Programs} programs
 */
export const coverageOf = ({ document, entries, commands, withoutCommand, tools, withoutTool }) => {
  const methods = sdkMethods(document, entries);
  const ids = operationsOf(document).map(({ operation }) => operation.operationId);
  const rows = operationsOf(document).map(({ operation: { operationId } }) => {
    const entry = entries[operationId];
    return {
      operationId,
      method: {
        callers: methods.filter((method) => method.operationId === operationId).map(({ name }) => name),
        reason: typeof entry === 'object' && 'none' in entry ? entry.none : undefined,
      },
      command: coverage(operationId, commands, withoutCommand),
      tool: coverage(operationId, tools, withoutTool),
    };
  });
  const problems = [
    ...rows.flatMap(({ operationId, command, tool }) => [
      ...problemsOf(operationId, 'command', 'cli/without.json', command),
      ...problemsOf(operationId, 'tool', 'mcp/without.json', tool),
    ]),
    ...[...commands, ...tools].flatMap(({ name, operations }) =>
      operations.filter((id) => !ids.includes(id)).map((id) => `${name} names ${id}, which no operation is called`),
    ),
    ...[...Object.keys(withoutCommand), ...Object.keys(withoutTool)]
      .filter((id) => !ids.includes(id))
      .map((id) => `a reason is given for ${id}, which no operation is called`),
  ];
  return { rows, problems };
};

/** @param {string} id @param {readonly Program[]} programs @param {Readonly<Record<string, string>>} without @returns {Coverage} */
const coverage = (id, programs, without) => ({
  callers: programs.filter(({ operations, hidden }) => hidden !== true && operations.includes(id)).map(({ name }) => name),
  reason: without[id],
});

/** @param {string} id @param {string} kind @param {string} file @param {Coverage} coverage */
const problemsOf = (id, kind, file, { callers, reason }) => [
  ...(callers.length === 0 && reason === undefined ? [`${id} has no ${kind}, and ${file} does not say why`] : []),
  ...(callers.length > 0 && reason !== undefined ? [`${id} has the ${kind} ${callers.join(', ')}, and a reason for none`] : []),
];

/** @param {Programs} programs */
export const programsPage = (programs) => {
  const { rows } = coverageOf(programs);
  const count = (/** @type {'method' | 'command' | 'tool'} */ kind) => rows.filter((row) => row[kind].callers.length > 0).length;
  const pages = new Map(pagesOf(groupsOf(sdkMethods(programs.document, programs.entries))));
  return [
    '# Programs',
    'What calls each operation of the API: a method of the [SDK](../sdk/README.md), a command of the CLI (behind `doorstep`), a tool of the MCP server; or why none does. This page is made from their lists by `npm run docs`.',
    `Of ${rows.length} operations, ${count('method')} have a method, ${count('command')} a command of their own and ${count('tool')} a tool. \`doorstep api <METHOD> <path>\` and \`doorstep.request(…)\` call any operation.`,
    table(
      ['Operation', 'SDK', 'CLI', 'MCP'],
      rows.map(({ operationId, method, command, tool }) => [
        `\`${operationId}\``,
        method.callers.map((name) => `[\`${name}\`](../sdk/docs/${pages.get(name)})`).join(', ') || (method.reason ?? ''),
        cell(command),
        cell(tool),
      ]),
    ),
  ].join('\n\n');
};

/** @param {Coverage} coverage */
const cell = ({ callers, reason = '' }) => callers.map((name) => `\`${name}\``).join(', ') || reason;

/** @param {import('./sdkModel.mjs').Group} group @returns {[string, string][]} */
const pagesOf = ({ name, methods, groups }) => [
  ...methods.map((method) => /** @type {[string, string]} */ ([method.name, `${name || 'doorstep'}.md`])),
  ...groups.flatMap(pagesOf),
];
