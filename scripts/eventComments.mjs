/** The comments that stand above event types and their fields in `src/events/`. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/**
 * By `<event type>`, and by `<event type>.<path of the field>` (`DeliverySetUp.checkpoints`,
 * `SeoScanCompleted.findings[].rule`).
 * @typedef {ReadonlyMap<string, string>} EventComments
 */

/**
 * @param {string} folder - every `*.events.ts` below it is read, with the fields that they share (`fields.ts`)
 * @returns {EventComments}
 */
export const readEventComments = (folder) => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.events.ts'));
  const shared = constantsIn(readFileSync(join(folder, 'fields.ts'), 'utf8'));
  return new Map(files.flatMap((name) => commentsIn(readFileSync(join(folder, name), 'utf8'), shared)));
};

/** @param {string} text */
const constantsIn = (text) => {
  const source = ts.createSourceFile('events.ts', text, ts.ScriptTarget.Latest, true);
  /** @type {Map<string, ts.Expression>} */
  const constants = new Map();
  for (const statement of source.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (initializer !== undefined) constants.set(name.getText(), initializer);
    }
  }
  return constants;
};

/**
 * @param {string} text
 * @param {ReadonlyMap<string, ts.Expression>} shared - constants of which others hold fields
 * @returns {[string, string][]}
 */
const commentsIn = (text, shared) => {
  const constants = constantsIn(text);

  /**
   * @param {ts.Expression} expression
   * @param {string} path - of the value that the expression describes
   * @returns {[string, string][]}
   */
  const below = (expression, path) => {
    if (ts.isIdentifier(expression)) {
      const constant = constants.get(expression.text) ?? shared.get(expression.text);
      return constant === undefined ? [] : below(constant, path);
    }
    if (ts.isCallExpression(expression)) {
      const inside = expression.expression.getText() === 'Type.Array' ? `${path}[]` : path;
      return expression.arguments.flatMap((argument) => below(argument, inside));
    }
    if (ts.isArrayLiteralExpression(expression)) return expression.elements.flatMap((element) => below(element, path));
    if (!ts.isObjectLiteralExpression(expression)) return [];
    return expression.properties.flatMap((property) => {
      if (ts.isSpreadAssignment(property)) return below(property.expression, path);
      if (!ts.isPropertyAssignment(property)) return [];
      const own = path === '' ? property.name.getText() : `${path}.${property.name.getText()}`;
      const comment = commentOf(property);
      return [...(comment === '' ? [] : [/** @type {[string, string]} */ ([own, comment])]), ...below(property.initializer, own)];
    });
  };

  return [...constants].filter(([name]) => /Events$/.test(name)).flatMap(([, definitions]) => below(definitions, ''));
};

/**
 * @param {ts.Node} node
 * @returns {string} one line; empty when there is none
 */
const commentOf = (node) => {
  const texts = ts.getJSDocCommentsAndTags(node).map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '');
  return texts.join(' ').replaceAll(/\s+/g, ' ').trim();
};
