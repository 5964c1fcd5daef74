import type { LevelSettings } from '../../platform/config/log-levels.ts';

/**
 * Counts of the last hour, of one process or of all; `created` and `ended` are of the last five minutes. `pool` and
 * `bus` show the state at the time of the report.
 */
export interface Activity {
  /** `created`: tasks created in the last five minutes. `ended`: tasks that ended in the last five minutes. */
  created: number;
  ended: number;
  objectives: { name: string; events: number; bad: number }[];
  /** Tasks that ended, by model and provider. Cancelled tasks and refused content are left out. */
  runs: ProviderRuns[];
  /** How often a binding was passed over for a task, by provider and reason. */
  passed_over: { provider: string; reason: string; count: number }[];
  /** Attempts to deliver webhooks. */
  attempts: { outcome: string; error: string | null; count: number }[];
  keys: KeyActivity[];
  pool: { used: number; idle: number; waiting: number; max: number };
  bus: { connected: boolean; outbox: number };
}

/**
 * What a process publishes with its row. The lists are bounded: models, providers and outcomes are few, and the list of
 * keys has a limit.
 */
export interface ProcessActivity extends Activity {
  log: LevelSettings;
}

export interface ProviderRuns {
  model: string;
  provider: string;
  succeeded: number;
  failed: number;
  last_error_code: string | null;
  /** Unix seconds. */
  last_error_at: number | null;
}

export interface KeyActivity {
  api_key_id: string;
  /** Requests over a rate limit. */
  refused: number;
  /** Failed tasks, without cancelled ones. */
  failed: number;
}

/** The activity of all processes together. The report of an older release may lack any part. */
export function total(activities: readonly Partial<Activity>[]): Activity {
  const all = <Name extends keyof Activity>(name: Name) =>
    activities
      .map((each) => each[name])
      .filter((value): value is Exclude<typeof value, undefined> => value !== undefined);
  const add = (numbers: number[]) => numbers.reduce((sum, each) => sum + each, 0);
  const pools = all('pool');
  const buses = all('bus');
  return {
    created: add(all('created')),
    ended: add(all('ended')),
    objectives: summed(all('objectives').flat(), ({ name }) => name, ['events', 'bad']),
    runs: latest(all('runs').flat()),
    passed_over: summed(all('passed_over').flat(), ({ provider, reason }) => `${provider} ${reason}`, ['count']),
    attempts: summed(all('attempts').flat(), ({ outcome, error }) => `${outcome} ${error}`, ['count']),
    keys: summed(all('keys').flat(), ({ api_key_id }) => api_key_id, ['refused', 'failed']),
    pool: {
      used: add(pools.map(({ used }) => used)),
      idle: add(pools.map(({ idle }) => idle)),
      waiting: add(pools.map(({ waiting }) => waiting)),
      max: add(pools.map(({ max }) => max)),
    },
    bus: { connected: buses.every(({ connected }) => connected), outbox: add(buses.map(({ outbox }) => outbox)) },
  };
}

function latest(runs: readonly ProviderRuns[]): ProviderRuns[] {
  const nameOf = ({ model, provider }: ProviderRuns) => `${model} ${provider}`;
  return summed(runs, nameOf, ['succeeded', 'failed']).map((sum) => {
    const errors = runs.filter((each) => nameOf(each) === nameOf(sum) && each.last_error_at !== null);
    const last = errors.toSorted((a, b) => b.last_error_at! - a.last_error_at!)[0];
    return { ...sum, last_error_code: last?.last_error_code ?? null, last_error_at: last?.last_error_at ?? null };
  });
}

/** Adds up the numbers of the entries with the same name. */
function summed<Entry extends object, Field extends keyof Entry>(
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
  fields: readonly Field[],
): Entry[] {
  const sums = new Map<string, Entry>();
  for (const entry of entries) {
    const sum = sums.get(nameOf(entry));
    if (!sum) sums.set(nameOf(entry), { ...entry });
    else for (const field of fields) Object.assign(sum, { [field]: Number(sum[field]) + Number(entry[field]) });
  }
  return [...sums.values()];
}
