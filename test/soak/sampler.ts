import { appendFileSync, type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deployment, Member } from './deployment.ts';
import type { RunRecord } from './run-record.ts';

export const TABLES = [
  'tasks',
  'idempotency_keys',
  'webhook_events',
  'webhook_dispatches',
  'webhook_deliveries',
  'audit_events',
  'key_load',
  'rate_windows',
] as const;

interface ProcessSample {
  pid: number;
  rssMb: number;
  /** null while the process does not answer. */
  heapMb: number | null;
  lagP99Ms: number | null;
  descriptors: number;
}

export interface Sample {
  at: number;
  processes: { [name: string]: ProcessSample };
  connections: number;
  files: number;
  rows: { [table: string]: number };
  databaseMb: number;
  unfinished: number;
  oldestUnfinishedS: number;
  /** Erasures that have not completed. */
  erasing: number;
  ended: number;
  counts: { [name: string]: number };
}

const STATE = `
  select (select count(*)::int from pg_stat_activity where application_name like 'darkroom%' and datname = current_database()) as connections,
         (select count(*)::int from tasks where completed_at is null) as unfinished,
         (select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 from tasks where completed_at is null) as oldest,
         (select count(*)::int from erasures where finished_at is null) as erasing,
         pg_database_size(current_database())::float8 / 1048576 as megabytes,
         ${TABLES.map((table) => `(select count(*)::int from ${table}) as ${table}`).join(', ')}`;

/** Measures everything that could grow and appends it to a file of JSON lines. */
export class Sampler {
  readonly samples: Sample[] = [];

  constructor(
    private readonly deployment: Deployment,
    private readonly record: RunRecord,
    private readonly file: string,
  ) {}

  async take(): Promise<Sample> {
    const [row] = await this.record.query<{ [column: string]: number }>(this.deployment.database.url, STATE);
    const state = row!;
    const processes: Sample['processes'] = {};
    for (const member of this.deployment.members) {
      const sample = await sampleOf(member);
      if (sample) processes[member.name] = sample;
    }
    const sample: Sample = {
      at: Math.round(this.record.elapsedS),
      processes,
      connections: state.connections!,
      files: filesIn(join(this.deployment.dataDir, 'files')).length,
      rows: Object.fromEntries(TABLES.map((table) => [table, state[table]!])),
      databaseMb: Math.round(state.megabytes!),
      unfinished: state.unfinished!,
      oldestUnfinishedS: Math.round(state.oldest!),
      erasing: state.erasing!,
      ended: this.record.ended.size,
      counts: { ...this.record.counts },
    };
    this.samples.push(sample);
    appendFileSync(this.file, `${JSON.stringify(sample)}\n`);
    return sample;
  }
}

/** @returns null if the process is being restarted */
async function sampleOf({ pid, url }: Member): Promise<ProcessSample | null> {
  try {
    const rssKb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    const metrics = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(1_000) }).then(
      (reply) => reply.text(),
      () => '',
    );
    const value = (name: string) => {
      const found = new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1];
      return found === undefined ? null : Number(found);
    };
    const heap = value('nodejs_heap_size_used_bytes');
    const lag = value('nodejs_eventloop_lag_p99_seconds');
    return {
      pid,
      rssMb: Math.round(rssKb / 102.4) / 10,
      heapMb: heap === null ? null : Math.round(heap / 104_857.6) / 10,
      lagP99Ms: lag === null ? null : Math.round(lag * 1000),
      descriptors,
    };
  } catch {
    return null;
  }
}

/** @returns the paths of all files below the folder */
export function filesIn(folder: string): string[] {
  return listed(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : entry.isFile() ? [path] : [];
  });
}

/** A folder may be purged while its parent is read. */
function listed(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
