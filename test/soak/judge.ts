import { LONG_ENOUGH_S, type Plan } from './plan.ts';
import type { RunRecord } from './run-record.ts';
import type { Sample } from './sampler.ts';
import type { Surroundings } from './surroundings.ts';

export interface Check {
  name: string;
  value: number;
  /** The largest value that is accepted. */
  bound: number;
  /** What was counted, to look for in the logs. */
  which?: string[];
}

/** The part of the run after which processes have loaded and compiled what they use. */
const WARM_UP = 0.25;
/** Purges pause for up to 60 s; faults and a busy machine delay them. */
const PURGE_DELAY_S = 150;
/** Connections of the pool, of the bus, of the pulse and of the start of a process; four processes. */
const MAX_CONNECTIONS = 4 * 24;

/** A paid call whose connection was cut after it was sent: nothing is submitted again, because it may have been billed. */
const LOST_CALL = ['provider_outcome_unknown', 'provider_unavailable'];

/** Rows per ended task. A failing endpoint of one tenant in three gets six attempts, and what it missed again. */
const ROWS_PER_TASK: { [table: string]: number } = {
  tasks: 1,
  idempotency_keys: 0.8,
  webhook_events: 1,
  webhook_dispatches: 2,
  webhook_deliveries: 6,
};

/** Compares the whole run with its bounds. `drained` is the sample after all retentions have ended. */
export function judge(
  plan: Plan,
  record: RunRecord,
  drained: Sample,
  all: Sample[],
  surroundings: Surroundings,
): Check[] {
  const samples = all.filter(({ at }) => at <= plan.seconds);
  const measured = samples.filter(({ at }) => at > plan.seconds * WARM_UP);
  return [
    { name: 'violations seen during the run', value: record.violations.length, bound: 0 },
    ...promises(record, surroundings),
    ...leftovers(drained),
    ...sizes(plan, samples, record.ended.size / plan.seconds),
    ...(plan.seconds < LONG_ENOUGH_S ? [] : growth(measured)),
  ];
}

function promises(record: RunRecord, { filmsBySeed, picturesByPrompt }: Surroundings): Check[] {
  const accepted = [...record.accepted];
  const ofTenants = accepted.filter(([, tenant]) => tenant !== null);
  const missing = (all: Iterable<string>, found: { has(id: string): boolean }) =>
    [...all].filter((id) => !found.has(id)).length;
  const notStreamed = ofTenants.filter(([id, tenant]) => {
    const ends = record.streamed.get(tenant!);
    return ends !== undefined && !ends.has(id);
  });
  const attempts = new Map<string, number>();
  for (const { prompt, attempt } of record.ended.values()) attempts.set(prompt, (attempts.get(prompt) ?? 0) + attempt);
  const filmsPaidTwice = [...filmsBySeed].filter(([, paid]) => paid > 1);
  const tooManyPictures = [...picturesByPrompt].filter(([prompt, paid]) => paid > (attempts.get(prompt) ?? 0));
  const codes = [...record.ended.values()].map(({ code }) => code);
  const known = new Set([null, 'content_policy_violation', 'task_cancelled', ...LOST_CALL]);
  return [
    { name: 'accepted tasks that never ended', value: missing(record.accepted.keys(), record.ended), bound: 0 },
    {
      name: 'ends without a webhook',
      value: missing(
        ofTenants.map(([id]) => id),
        record.events,
      ),
      bound: 0,
    },
    {
      name: 'tasks with two webhook events',
      value: [...record.events.values()].filter(({ size }) => size > 1).length,
      bound: 0,
    },
    {
      name: 'ends missing from resumed event streams',
      value: notStreamed.length,
      bound: 0,
      which: notStreamed.map(([id]) => `${id} of ${record.accepted.get(id)}, ended at ${record.ended.get(id)?.at}`),
    },
    {
      name: 'films paid for twice',
      value: filmsPaidTwice.length,
      bound: 0,
      which: filmsPaidTwice.map(([seed]) => `seed ${seed}`),
    },
    { name: 'images paid for more often than attempted', value: tooManyPictures.length, bound: 0 },
    {
      name: 'tasks that failed because their paid call was cut',
      value: codes.filter((code) => LOST_CALL.includes(code ?? '')).length,
      bound: 5 * (record.counts['fault: upstream away'] ?? 0),
    },
    { name: 'tasks with an unexpected error', value: codes.filter((code) => !known.has(code)).length, bound: 0 },
  ];
}

/** After the end of all retentions nothing may be left. */
function leftovers({ rows, files, unfinished, erasing }: Sample): Check[] {
  return [
    ...Object.keys(ROWS_PER_TASK).map((table) => ({
      name: `${table} left at the end`,
      value: rows[table] ?? 0,
      bound: 0,
    })),
    { name: 'files left at the end, one of them the marker of the storage', value: files, bound: 1 },
    { name: 'tasks unfinished at the end', value: unfinished, bound: 0 },
    { name: 'erasures unfinished at the end', value: erasing, bound: 0 },
  ];
}

function sizes(plan: Plan, samples: Sample[], perSecond: number): Check[] {
  const most = (read: (sample: Sample) => number) => Math.max(...samples.map(read));
  const kept = perSecond * (plan.taskRetentionS + PURGE_DELAY_S) * 1.5;
  return [
    ...Object.entries(ROWS_PER_TASK).map(([table, share]) => ({
      name: `most rows in ${table}`,
      value: most(({ rows }) => rows[table] ?? 0),
      bound: Math.ceil(kept * share),
    })),
    {
      name: 'most files',
      value: most(({ files }) => files),
      bound: Math.ceil(perSecond * (plan.fileRetentionS + PURGE_DELAY_S) * 1.5),
    },
    { name: 'most audit events', value: most(({ rows }) => rows.audit_events ?? 0), bound: 1_000 },
    { name: 'most connections', value: most(({ connections }) => connections), bound: MAX_CONNECTIONS },
    {
      name: 'age of the oldest unfinished task, s',
      value: most(({ oldestUnfinishedS }) => oldestUnfinishedS),
      bound: plan.imageDeadlineS + plan.videoDeadlineS + 30,
    },
  ];
}

/** By linear fit over the part after the warm-up, for the processes that no fault has ended. */
function growth(samples: Sample[]): Check[] {
  const hours = (samples.at(-1)!.at - samples[0]!.at) / 3600;
  const perRun = (read: (sample: Sample) => number | null | undefined) =>
    Math.round(slope(samples, read) * hours * 10) / 10;
  const survivors = ['api-1', 'worker-1'].flatMap((name) => [
    { name: `growth of memory of ${name}, MiB`, value: perRun(({ processes }) => processes[name]?.rssMb), bound: 64 },
    { name: `growth of heap of ${name}, MiB`, value: perRun(({ processes }) => processes[name]?.heapMb), bound: 32 },
    {
      name: `growth of descriptors of ${name}`,
      value: perRun(({ processes }) => processes[name]?.descriptors),
      bound: 10,
    },
  ]);
  const mean = (read: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + read(sample), 0) / samples.length;
  return [
    ...survivors,
    { name: 'growth of connections', value: perRun(({ connections }) => connections), bound: 6 },
    {
      name: 'growth of files',
      value: perRun(({ files }) => files),
      bound: Math.ceil(mean(({ files }) => files) * 0.25),
    },
    ...Object.keys(ROWS_PER_TASK).map((table) => ({
      name: `growth of rows in ${table}`,
      value: perRun(({ rows }) => rows[table]),
      bound: Math.ceil(mean(({ rows }) => rows[table] ?? 0) * 0.25),
    })),
  ];
}

/** Least squares. @returns the slope per hour */
function slope(samples: Sample[], read: (sample: Sample) => number | null | undefined): number {
  const points = samples.flatMap((sample) => {
    const y = read(sample);
    return typeof y === 'number' ? [{ x: sample.at / 3600, y }] : [];
  });
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
}
