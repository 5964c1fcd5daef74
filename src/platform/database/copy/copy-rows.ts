import { createHash } from 'node:crypto';
import { type Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Client, escapeIdentifier } from 'pg';
import { from, to } from 'pg-copy-streams';
import type { CopiedTable, StoredTable } from './tables.ts';

/** Size and hash of a table that was copied in PostgreSQL's text format. */
export interface CopiedRows {
  rows: number;
  bytes: number;
  /** Hex. */
  sha256: string;
}

const NEWLINE = 0x0a;

const columnsOf = ({ columns }: CopiedTable): string => columns.map(escapeIdentifier).join(', ');

/**
 * Copies a query, because `copy` cannot read a partitioned table itself. A partitioned table is read in the order of
 * its primary key, because two databases with the same rows may have different partitions.
 */
const copyOut = (table: StoredTable): string => {
  const order = table.order.length === 0 ? '' : ` order by ${table.order.map(escapeIdentifier).join(', ')}`;
  return `copy (select ${columnsOf(table)} from ${escapeIdentifier(table.name)}${order}) to stdout`;
};

const copyIn = (table: CopiedTable): string => `copy ${escapeIdentifier(table.name)} (${columnsOf(table)}) from stdin`;

/** Writes the rows of a table to `target`, in one stream of bounded memory. */
export async function readRows(client: Client, table: StoredTable, target: Writable): Promise<CopiedRows> {
  const meter = new Meter();
  await pipeline(client.query(to(copyOut(table))), meter, target);
  return meter.result();
}

export async function writeRows(client: Client, table: CopiedTable, source: Readable): Promise<CopiedRows> {
  const meter = new Meter();
  await pipeline(source, meter, client.query(from(copyIn(table))));
  return meter.result();
}

/** Copies a table to another server. */
export async function passRows(source: Client, target: Client, table: StoredTable): Promise<CopiedRows> {
  return writeRows(target, table, source.query(to(copyOut(table))));
}

/** Counts and hashes the rows that pass. Each row is one line: the format writes line breaks in values as `\n`. */
class Meter extends Transform {
  private readonly hash = createHash('sha256');
  private rows = 0;
  private bytes = 0;

  override _transform(chunk: Buffer, _: BufferEncoding, done: (error: null, chunk: Buffer) => void): void {
    this.hash.update(chunk);
    this.bytes += chunk.length;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) this.rows += 1;
    done(null, chunk);
  }

  result(): CopiedRows {
    return { rows: this.rows, bytes: this.bytes, sha256: this.hash.digest('hex') };
  }
}
