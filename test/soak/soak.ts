/**
 * The endurance test: two API and two worker processes on a durable PostgreSQL, mixed load, faults from a seed, and
 * retentions so short that everything is purged many times. At the end the run is compared with its bounds.
 *
 *     npm run test:soak -- [--minutes 120] [--seed 1] [--rate 3] [--out folder] [--graph docs/images/soak.svg]
 *
 * The exit code is 0 if every bound was kept. `--minutes 3` tries the test itself; such a run is too short to judge growth.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deployment } from './deployment.ts';
import { injectFaults, LEASE_S } from './faults.ts';
import { draw } from './graph.ts';
import { judge } from './judge.ts';
import { Clients } from './load.ts';
import { type Plan, randomOf, readPlan } from './plan.ts';
import { RunRecord } from './run-record.ts';
import { filesIn, Sampler } from './sampler.ts';
import { Surroundings } from './surroundings.ts';
import { followByEvents, followByGraphql, makeTenants, repairEndpoints } from './tenants.ts';

const DAY_S = 86_400;
const HOUR_S = 3_600;
/**
 * How far back each look at ended tasks reaches, beyond its interval: an end becomes visible some seconds after its
 * time.
 */
const OVERLAP_S = 30;

const settingsOf = (plan: Plan): { [name: string]: string } => ({
  LOG_LEVEL: 'warn',
  TASK_LEASE_S: String(LEASE_S),
  TASK_HEARTBEAT_S: String(LEASE_S / 4),
  TASK_SWEEP_S: '1',
  TASK_MAX_ATTEMPTS: '50', // no task may run out of attempts here
  TASK_DEADLINE_IMAGE_S: String(plan.imageDeadlineS),
  TASK_DEADLINE_VIDEO_S: String(plan.videoDeadlineS),
  PROVIDER_POLL_INTERVAL_MS: '400',
  WEBHOOK_RETRY_SCHEDULE: '2,4,8,16,30',
  WEBHOOK_TIMEOUT_MS: '3000',
  WEBHOOK_DISABLE_AFTER_HOURS: String(180 / HOUR_S),
  FILE_RETENTION_DAYS: String(plan.fileRetentionS / DAY_S),
  TASK_RETENTION_DAYS: String(plan.taskRetentionS / DAY_S),
  IDEMPOTENCY_TTL_H: String(plan.idempotencyTtlS / HOUR_S),
  SHUTDOWN_GRACE_S: '2',
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  OUTBOUND_ALLOW_HTTP: 'true',
});

/** Audit events are kept for 400 days, so their times are moved: all but the newest minutes expire. */
const AGE_AUDIT = `update audit_events set created_at = created_at - interval '401 days'
                   where created_at between now() - interval '1 day' and now() - interval '5 minutes'`;

async function run(plan: Plan): Promise<boolean> {
  rmSync(plan.folder, { recursive: true, force: true });
  mkdirSync(plan.folder, { recursive: true });
  const random = randomOf(plan.seed);
  const deployment = await Deployment.open();
  const record = new RunRecord();
  const surroundings = new Surroundings(record);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void deployment.close().finally(() => process.exit(1)));
  try {
    await surroundings.start();
    await deployment.startAll({ ...surroundings.environment, ...settingsOf(plan) }, plan.folder);
    record.startedAt = Date.now();
    const tenants = await makeTenants(deployment, surroundings);
    const sampler = new Sampler(deployment, record, join(plan.folder, 'samples.jsonl'));
    const observing = observe(plan, deployment, { record, surroundings, sampler });
    const load = new AbortController();
    const followers = new AbortController();
    const following = [
      ...tenants.slice(0, 4).map((tenant) => followByEvents(tenant, deployment, record, followers.signal)),
      ...tenants.slice(3).map((tenant) => followByGraphql(tenant, deployment, record, followers.signal)),
      repairEndpoints(tenants, deployment, record, followers.signal),
    ];
    await sleep(2_000); // the streams are open before the first create
    const faults = injectFaults({ plan, deployment, surroundings, record, random }, load.signal);
    const clients = new Clients({
      plan,
      deployment,
      tenants,
      record,
      random: randomOf(plan.seed + 1),
      picturesUrl: surroundings.picturesUrl,
      picture: surroundings.picture,
    });
    const loading = clients.run(load.signal);
    await sleep(plan.seconds * 1000 - record.elapsedS * 1000);
    load.abort();
    await Promise.all([loading, faults]);
    console.log(`load ended after ${Math.round(record.elapsedS)} s; waiting for the last ends and all retentions`);
    await sleep((Math.max(plan.taskRetentionS, plan.videoDeadlineS) + 150) * 1000);
    followers.abort();
    await Promise.all(following);
    await observing.stop();
    const drained = await sampler.take();
    return report(plan, { deployment, record, surroundings, sampler, drained });
  } finally {
    await record.close();
    await deployment.close();
    await surroundings.stop();
  }
}

interface Seen {
  record: RunRecord;
  surroundings: Surroundings;
  sampler: Sampler;
}

/** Samples, counts what the upstreams were paid for, and reads the ends before they are purged. */
function observe(plan: Plan, deployment: Deployment, { record, surroundings, sampler }: Seen) {
  const over = new AbortController();
  let failures = 0;
  const { url } = deployment.database;
  const loop = (async () => {
    let sampledAt = -Infinity;
    while (!over.signal.aborted) {
      try {
        await record.readEnds(url, OVERLAP_S + failures * 5);
        surroundings.tally();
        if (record.elapsedS - sampledAt >= plan.sampleEveryS) {
          sampledAt = record.elapsedS;
          await record.query(url, AGE_AUDIT);
          const { at, processes, rows, connections, files, unfinished } = await sampler.take();
          const memory = Object.entries(processes).map(([name, { rssMb }]) => `${name} ${Math.round(rssMb)} MiB`);
          console.log(
            `${at} s: ${memory.join(', ')}; ${connections} connections, ${files} files, ${rows.tasks} tasks (${unfinished} unfinished), ${record.ended.size} ended, ${record.violations.length} violations`,
          );
        }
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures > 20) record.violation(`not observed: ${(error as Error).message}`);
      }
      await sleep(2_000);
    }
  })();
  return {
    stop: async () => {
      over.abort();
      await loop;
    },
  };
}

interface End extends Seen {
  deployment: Deployment;
  drained: Awaited<ReturnType<Sampler['take']>>;
}

/** @returns whether every bound was kept */
function report(plan: Plan, { deployment, record, surroundings, sampler, drained }: End): boolean {
  for (const { name, crashes, failedStarts } of deployment.members) {
    if (crashes > 0) record.violation(`${name} ended by itself ${crashes} times`);
    if (failedStarts > 0) record.count(`failed starts of ${name}`, failedStarts);
  }
  const checks = judge(plan, record, drained, sampler.samples, surroundings);
  const filesLeft = filesIn(join(deployment.dataDir, 'files'));
  const failed = checks.filter(({ value, bound }) => !(value <= bound));
  const errors = loggedErrors(plan.folder);
  for (const { name, value, bound } of checks)
    console.log(`${value <= bound ? 'ok    ' : 'FAILED'} ${name}: ${value} (at most ${bound})`);
  console.log(`files left: ${filesLeft.join(', ')}`);
  const outcomes: { [code: string]: number } = {};
  for (const { code, status } of record.ended.values()) outcomes[code ?? status] = (outcomes[code ?? status] ?? 0) + 1;
  const films = [...surroundings.filmsBySeed.values()].reduce((sum, paid) => sum + paid, 0);
  const pictures = [...surroundings.picturesByPrompt.values()].reduce((sum, paid) => sum + paid, 0);
  const takenOver = [...record.ended.values()].filter(({ losses }) => losses > 0).length;
  const figures = { accepted: record.accepted.size, ended: record.ended.size, outcomes, films, pictures, takenOver };
  const summary = { plan, figures, counts: record.counts, errors, checks, filesLeft, violations: record.violations };
  writeFileSync(join(plan.folder, 'report.json'), JSON.stringify({ ...summary, faults: record.faults }, null, 2));
  const title = `${Math.round(plan.seconds / 60)} minutes, ${record.ended.size} tasks, ${record.faults.length} faults (seed ${plan.seed})`;
  writeFileSync(plan.graph, draw(sampler.samples, record, title));
  console.log(JSON.stringify({ figures, counts: record.counts, errors }, null, 1));
  console.log(failed.length === 0 ? 'passed' : `failed: ${failed.length} of ${checks.length} bounds`);
  return failed.length === 0;
}

/** Lines of level error and above in the logs, by event. */
function loggedErrors(folder: string): { [event: string]: number } {
  const events: { [event: string]: number } = {};
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.log'))) {
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n')) {
      if (!/"level":(50|60)/.test(line)) continue;
      const event = /"event":"([^"]+)"/.exec(line)?.[1] ?? line.slice(0, 200);
      events[event] = (events[event] ?? 0) + 1;
    }
  }
  return events;
}

const plan = readPlan();
console.log(
  `seed ${plan.seed}, ${plan.seconds / 60} minutes, ${plan.rate} creates a second, results in ${plan.folder}`,
);
process.exitCode = (await run(plan)) ? 0 : 1;
