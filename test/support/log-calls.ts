import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { AUDIT_ACTIONS } from '../../src/auth/audit/audit-event.entity.ts';

/** An event that the code logs. */
export interface LogEvent {
  event: string;
  levels: string[];
  contexts: string[];
  fields: string[];
}

const root = new URL('../../', import.meta.url);

/** The methods of a logger, with the levels of their lines. */
const LEVELS: Record<string, string> = { fatal: 'fatal', error: 'error', warn: 'warn', log: 'info', debug: 'debug' };

/** The only call whose event is a variable: it logs the actions that the audit log records. */
const COMPUTED: Record<string, readonly string[]> = { action: AUDIT_ACTIONS };

/** The files of the service that may log. */
export const files = globSync('src/**/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('.spec.ts') && !path.startsWith('src/cli/'))
  .map((path) => ts.createSourceFile(path, readFileSync(new URL(path, root), 'utf8'), ts.ScriptTarget.Latest, true));

/**
 * Every event that the code logs. An event that several calls log has the levels, contexts and fields of all of them.
 */
export const logEvents = (): LogEvent[] => merged(files.flatMap(eventsOf));

/** All object literals of a file that name an event. */
function eventsOf(file: ts.SourceFile): LogEvent[] {
  const found: LogEvent[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) found.push(...eventsIn(node, file));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function eventsIn(literal: ts.ObjectLiteralExpression, file: ts.SourceFile): LogEvent[] {
  const purge = propertyOf(literal, 'failure');
  if (purge && propertyOf(literal, 'purge')) {
    const events = ts.isPropertyAssignment(purge) ? textsIn(purge.initializer) : [];
    return events.map((event) => ({ event, levels: ['warn'], contexts: contextsOf(file), fields: ['err'] }));
  }
  const property = propertyOf(literal, 'event');
  if (!property || !ts.isPropertyAssignment(property)) return [];
  const { initializer } = property;
  const events = ts.isIdentifier(initializer)
    ? (COMPUTED[initializer.text] ?? [])
    : ts.isElementAccessExpression(initializer)
      ? textsIn(declarationOf(initializer.expression.getText(), file))
      : textsIn(initializer);
  const calls = callsWith(literal, file);
  const levels = [...new Set(calls.flatMap(levelsOf))].sort();
  const extra = calls.flatMap((call) => (call.arguments[0] ? fieldsOf(call.arguments[0]) : []));
  const fields = [...new Set([...fieldsOf(literal), ...extra])].filter((name) => name !== 'event').sort();
  const inRequests = calls.some((call) => call.expression.getText().endsWith('.one'));
  const contexts = [...new Set([file, ...calls.map((call) => call.getSourceFile())].flatMap(contextsOf))].sort();
  return events.map((event) => ({ event, levels, contexts: inRequests ? ['requests'] : contexts, fields }));
}

const propertyOf = (literal: ts.ObjectLiteralExpression, name: string) =>
  literal.properties.find((property) => property.name?.getText() === name);

/** The texts that an expression may have: that of a literal, or those of both branches. */
function textsIn(node: ts.Node): string[] {
  if (ts.isStringLiteral(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [...textsIn(node.whenTrue), ...textsIn(node.whenFalse)];
  const texts: string[] = [];
  ts.forEachChild(node, (child) => void texts.push(...textsIn(child)));
  return texts;
}

/**
 * The logger calls that write this object: the call around it, or calls with the variable or function that contains it.
 */
function callsWith(literal: ts.Node, file: ts.SourceFile): ts.CallExpression[] {
  for (let node = literal.parent; node; node = node.parent) {
    if (ts.isCallExpression(node) && isLogCall(node)) return [node];
    if (ts.isVariableDeclaration(node)) return logCallsNaming(node.name.getText(), isExported(node) ? files : [file]);
  }
  return [];
}

const isExported = (node: ts.VariableDeclaration): boolean =>
  node.parent.parent.getText().startsWith('export') || node.parent.parent.getFullText().includes('export const');

function logCallsNaming(name: string, within: ts.SourceFile[]): ts.CallExpression[] {
  const calls: ts.CallExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isCallExpression(node) &&
      isLogCall(node) &&
      new RegExp(`\\b${name}\\b`).test(node.arguments[0]?.getText() ?? '')
    )
      calls.push(node);
    ts.forEachChild(node, visit);
  };
  within.forEach(visit);
  return calls;
}

const isLogCall = ({ expression }: ts.CallExpression): boolean =>
  /(^|\.)(logger|log)(\.(fatal|error|warn|log|debug|one)|\[.*\])$/s.test(expression.getText());

/** The levels of `logger.warn(…)`, `logger[LEVELS[code] ?? 'log'](…)` and `log.one('info', …)`. */
function levelsOf({ expression, arguments: given }: ts.CallExpression): string[] {
  if (ts.isElementAccessExpression(expression)) {
    const table = /^\w+/.exec(expression.argumentExpression.getText())?.[0] ?? '';
    const named = textsIn(expression.argumentExpression).filter((text) => text in LEVELS);
    const declared = table ? textsIn(declarationOf(table, expression.getSourceFile())) : [];
    return [...named, ...declared].map((method) => LEVELS[method] as string);
  }
  const method = (expression as ts.PropertyAccessExpression).name.text;
  return method === 'one' ? textsIn(given[0] as ts.Node) : [LEVELS[method] as string];
}

function declarationOf(name: string, file: ts.SourceFile): ts.Node {
  let found: ts.Node | undefined;
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === name) found = node.initializer;
    ts.forEachChild(node, visit);
  };
  visit(file);
  if (!found) throw new Error(`${file.fileName} declares no ${name}`);
  return found;
}

/** The names of an object literal's properties, without those of objects that it spreads. */
function fieldsOf(node: ts.Node): string[] {
  if (!ts.isObjectLiteralExpression(node)) return [];
  return node.properties.flatMap((property) => (ts.isSpreadAssignment(property) ? [] : [property.name.getText()]));
}

/** The contexts of a file's loggers. `logServerError` uses the logger of its caller. */
const contextsOf = ({ text, fileName }: ts.SourceFile): string[] =>
  fileName.endsWith('error.filter.ts')
    ? ['errors', 'graphql']
    : [...new Set([...text.matchAll(/new Logger\('(\w+)'\)/g)].map(([, name]) => name as string))].sort();

function merged(events: LogEvent[]): LogEvent[] {
  const byName = new Map<string, LogEvent>();
  const union = (one: string[], other: string[]) => [...new Set([...one, ...other])].sort();
  for (const { event, levels, contexts, fields } of events) {
    const earlier = byName.get(event) ?? { event, levels: [], contexts: [], fields: [] };
    byName.set(event, {
      event,
      levels: union(earlier.levels, levels),
      contexts: union(earlier.contexts, contexts),
      fields: union(earlier.fields, fields),
    });
  }
  return [...byName.values()];
}
