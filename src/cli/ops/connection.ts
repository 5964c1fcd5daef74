import { Command } from 'commander';
import { transportTo } from '../client/connect.ts';
import { keyOption, urlOption } from '../client/service-options.ts';
import { table } from '../terminal/table.ts';
import { EXAMPLES } from './examples.ts';
import type { Operator } from './operator.ts';

export interface Connection {
  url: string;
  key?: string;
  json?: true;
  /** Whether to work on the database, without a running service. */
  database?: true;
}

/** Runs `work` over HTTP with the service, or on its database. */
export async function operate<Result>(
  { database, ...connection }: Connection,
  work: (operator: Operator) => Promise<Result>,
): Promise<Result> {
  if (!database) return work(overHttp(connection));
  const { onDatabase } = await import('./database-operator.ts'); // loads the whole service
  return onDatabase(work);
}

function overHttp(connection: Connection): Operator {
  const transport = transportTo(connection);
  return {
    call: (method, path, body) => transport.json(method, path, { body, isRepeatable: true }),
    once: async (method, path, body) => (await transport.json(method, path, { body, isRepeatable: false })) ?? null,
  };
}

/** Adds a sub-command that calls the service or, with `--database`, does the same in this process. */
export const opsAct = (ops: Command, name: keyof typeof EXAMPLES, description: string): Command =>
  ops
    .command(name)
    .description(description)
    .addOption(urlOption())
    .addOption(keyOption())
    .option('--database', 'use the database of the configuration instead, when no process answers; needs no key')
    .option('--json', 'print the whole answer as JSON')
    .addHelpText('after', `\nExample: npx darkroom ops ${EXAMPLES[name]}`);

export type Row = Record<string, unknown>;

/** Prints an answer: as JSON, or the named fields as a table. Prints `none` for an empty list without --json. */
export function show(
  answer: Row | Row[],
  fields: readonly string[],
  { json }: Connection,
  none = 'There are none.',
): void {
  if (json) return console.log(JSON.stringify(answer, null, 2));
  const rows = Array.isArray(answer) ? answer : [answer];
  if (rows.length === 0) return console.log(none);
  console.log(table(rows.map((row) => Object.fromEntries(fields.map((name) => [name, text(name, row[name])])))));
}

/** The text of a field for a table. Unix seconds become a time that `--since` takes. */
export function text(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'number' && isTime(name)) return new Date(value * 1000).toISOString().replace('.000', '');
  if (typeof value === 'number' && !Number.isInteger(value)) return value.toFixed(value < 1 ? 3 : 1);
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map((each) => nameOf(each)).join(',');
  if (typeof value === 'object') return mapText(value);
  return String(value);
}

/** The text of an object, in the form in which LOG_LEVELS is written; `-` if it has no fields. */
const mapText = (value: object): string =>
  Object.entries(value)
    .map(([name, each]) => `${name}=${String(each)}`)
    .join(',') || '-';

const isTime = (name: string): boolean => /(^|_)(at|until|since)$/.test(name);

const nameOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'model' in value ? String(value.model) : String(value);
