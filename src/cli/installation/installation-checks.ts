import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { ApiKey } from '../../auth/api-keys/api-key.entity.ts';
import { ModelAvailability } from '../../models/model-availability.ts';
import { ProviderRegistry, type ReadyBinding } from '../../providers/registry.ts';
import { SandboxProvider } from '../../providers/sandbox/sandbox.provider.ts';
import { catalog } from '../../models/catalog.ts';
import { nameOfSet } from '../../models/declaration/model-folder.ts';
import type { Model } from '../../models/definition/model.ts';
import { loadModels, modelsPath } from '../../providers/bindings/load-models.ts';
import { wordReport } from '../../tasks/insight/word-report.ts';
import { UsageTerms } from '../../tasks/record/usage-terms.ts';
import { addressOf } from '../../platform/config/address-of.ts';
import { Config, ConfigError, loadConfig } from '../../platform/config/config.ts';
import { createDataSource } from '../../platform/database/data-source.ts';
import { assertPooler, assertSameDatabase } from '../../platform/database/pooler-check.ts';
import { replicationReport } from '../../platform/database/servers/replication-report.ts';
import { probeRedis } from '../../platform/events/redis-probe.ts';
import { loadSecretKeys } from '../../platform/config/secrets.ts';
import { checkCredential } from '../../provenance/c2pa/check-credential.ts';
import { writeLifecycle } from '../../platform/storage/s3-lifecycle.ts';
import { openStorage } from '../../platform/storage/storage.module.ts';
import { dataDirMode } from './data-dir-mode.ts';
import { withDatabaseUrl } from './database.ts';
import { failureText } from '../terminal/failure-text.ts';
import { withNestContext } from './nest-context.ts';
import { olderKeys } from './older-keys.ts';
import { proxyNote } from './proxy-note.ts';
import { unpricedBindings } from './price-checks.ts';

export interface Finding {
  check: string;
  ok: boolean;
  note: string;
}

interface Options {
  /** Whether to write lifecycle rules to the bucket as well. */
  s3Lifecycle?: boolean | undefined;
}

const MIN_POSTGRES = 14;
const SERVICE_TIMEOUT_MS = 2000;

/**
 * Checks separately each thing that the service needs, so that one fault does not hide the next. Only a wrong
 * configuration ends the checks.
 */
export async function checkInstallation({ s3Lifecycle = false }: Options = {}): Promise<Finding[]> {
  // For information only, because `darkroom` refuses an older Node before this code runs.
  const findings: Finding[] = [{ check: 'node', ok: true, note: process.versions.node }];
  let config: Config;
  try {
    config = loadConfig();
    findings.push({ check: 'configuration', ok: true, note: `role ${config.role}, data in ${config.dataDir}` });
  } catch (error) {
    return [...findings, ...faultsOf(error).map((note) => ({ check: 'configuration', ok: false, note }))];
  }
  findings.push(await finding('DATA_DIR', async () => dataDirMode(config)));
  findings.push({ check: 'proxy', ok: true, note: proxyNote(config) });
  findings.push(await finding('secret key', () => secretKey(config)));
  findings.push(...(await database(config)));
  findings.push(await finding('storage', () => storage(config)));
  if (s3Lifecycle) findings.push(await finding('S3 lifecycle', () => lifecycle(config)));
  findings.push(await finding('events', () => events(config)));
  if (config.provenance === 'c2pa') findings.push(await finding('C2PA', () => signing(config)));
  findings.push(...(await models(config)));
  findings.push(await service(config));
  return findings;
}

const faultsOf = (error: unknown): readonly string[] =>
  error instanceof ConfigError ? error.faults : [failureText(error)];

async function finding(check: string, run: () => Promise<string>): Promise<Finding> {
  try {
    return { check, ok: true, note: await run() };
  } catch (error) {
    return { check, ok: false, note: failureText(error) };
  }
}

async function secretKey(config: Config): Promise<string> {
  const { length } = await loadSecretKeys(config);
  const where = config.secretKey ? 'from SECRET_KEY' : 'stored in DATA_DIR';
  return length === 1 ? where : `${length} keys, ${where}`;
}

async function database(config: Config): Promise<Finding[]> {
  const findings: Finding[] = [];
  const reachable = await finding('database', () =>
    withDatabaseUrl(config, async (url) => {
      const dataSource = await createDataSource(url, { max: 1 }).initialize();
      try {
        const [{ version }] = await dataSource.query<[{ version: number }]>(
          `select current_setting('server_version_num')::int / 10000 as version`,
        );
        const pending = await dataSource.showMigrations();
        findings.push({
          check: 'migrations',
          ok: true,
          note: pending
            ? 'some are pending; the service runs them when it starts, or run `npx darkroom migrate` now'
            : 'up to date',
        });
        if (!pending) {
          findings.push(
            await finding('API keys', async () => `${await dataSource.manager.count(ApiKey)} created so far`),
          );
          findings.push(await finding('older secret keys', () => olderKeys(dataSource, config)));
          findings.push(await finding('words', () => wordReport(url)));
          findings.push(await finding('queue', () => queue(dataSource)));
        }
        if (!pending && config.restoredFrom)
          findings.push(await finding('restore', () => restored(dataSource, config)));
        if (version < MIN_POSTGRES) throw new Error(`PostgreSQL ${version}; at least ${MIN_POSTGRES} is needed`);
        return `PostgreSQL ${version}, ${config.databaseUrl ? 'from DATABASE_URL' : 'embedded'}`;
      } finally {
        await dataSource.destroy();
      }
    }),
  );
  const { databaseUrl, databaseDirectUrl } = config;
  // An embedded database has no standby by design.
  if (databaseUrl && reachable.ok) {
    findings.push(await finding('standbys', () => replicationReport(databaseDirectUrl ?? databaseUrl)));
  }
  if (databaseUrl && databaseDirectUrl && reachable.ok) {
    findings.push(
      await finding('pooler', async () => {
        await assertSameDatabase(databaseUrl, databaseDirectUrl);
        await assertPooler(databaseUrl);
        return 'keeps prepared statements and the settings of the service';
      }),
    );
  }
  return [reachable, ...findings];
}

/** In seconds. Longer than any transaction of the service; only a backup or a move takes as long. */
const LONG_TRANSACTION_S = 120;

/**
 * Checks that exactly the tasks that may be claimed are marked as waiting. Warns if a long transaction keeps dead rows
 * in the table.
 * @throws Error for the operator
 */
async function queue(dataSource: DataSource): Promise<string> {
  const [{ tasks, lost, open_s: openS }] = await dataSource.query<[{ tasks: number; lost: number; open_s: number }]>(
    `select count(*)::int as tasks, (count(*) filter (where waits <> (status = 'queued' and not parked)))::int as lost,
            (select coalesce(extract(epoch from now() - min(xact_start)), 0)::int from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid()) as open_s
     from tasks_live`,
  );
  if (lost > 0) throw new Error(`${lost} of ${tasks} unfinished tasks are wrongly marked as waiting or not waiting`);
  const note = `${tasks} unfinished tasks`;
  if (openS < LONG_TRANSACTION_S) return note;
  return `WARNING ${note}. A transaction has been open for ${openS} s: dead rows stay, and claims become slower. End it if it is not a backup`;
}

/** Whether RESTORED_FROM is still needed. */
async function restored(dataSource: DataSource, { restoredFrom }: Config): Promise<string> {
  const [{ tasks }] = await dataSource.query<[{ tasks: number }]>(
    `select count(*)::int as tasks from tasks_live where created_at <= $1`,
    [restoredFrom],
  );
  if (tasks === 0) return 'no task of before RESTORED_FROM is unfinished: unset it';
  return `${tasks} tasks of before RESTORED_FROM are unfinished: keep it`;
}

async function storage(config: Config): Promise<string> {
  const storage = await openStorage(config);
  const folder = `_probe/${randomUUID()}`; // other processes may probe at the same time
  await storage.put(`${folder}/written`, Buffer.from('ready'), 'text/plain');
  await storage.deleteAll(folder);
  return config.storageUrl ? 'the bucket is writable' : 'DATA_DIR is writable';
}

async function lifecycle({ storageUrl }: Config): Promise<string> {
  if (storageUrl === null) throw new Error('STORAGE_URL is not set, so there is no bucket');
  return writeLifecycle(storageUrl);
}

async function events({ eventsUrl }: Config): Promise<string> {
  if (eventsUrl === null) return 'LISTEN/NOTIFY of the database';
  return probeRedis(eventsUrl);
}

async function signing(config: Config): Promise<string> {
  await checkCredential(config);
  return 'the certificate signs what readers accept';
}

/** The bindings of each model, in order of preference, and whether each credential is set. */
async function models(config: Config): Promise<Finding[]> {
  const parts = {
    providers: [
      ProviderRegistry,
      SandboxProvider,
      ModelAvailability,
      UsageTerms,
      { provide: Config, useValue: config },
    ],
  };
  const declared = await declaredModels(config);
  try {
    // The start of Nest checks the bindings, as in the service: a missing workflow file fails here.
    return await withNestContext(parts, async (context) => {
      const registry = context.get(ProviderRegistry);
      return [...declared, ...catalog.models.map((each) => model(each, registry)), prices(registry)];
    });
  } catch (error) {
    return [...declared, ...faultsOf(error).map((note) => ({ check: 'PROVIDERS', ok: false, note }))];
  }
}

/** Loads the folder of models, and reports its content, or every fault of its files. */
async function declaredModels(config: Config): Promise<Finding[]> {
  const path = modelsPath(config);
  if (path === null) return [];
  try {
    await loadModels(config);
    const models = catalog.models.filter(({ declared }) => declared);
    const note = `${models.length} declared in ${path}, set ${nameOfSet(models)}`;
    return [{ check: 'models', ok: true, note }];
  } catch (error) {
    return faultsOf(error).map((note) => ({ check: 'models', ok: false, note }));
  }
}

function model(each: Model, registry: ProviderRegistry): Finding {
  const bindings = registry.bindingsOf(each);
  const ok = bindings.some(({ credential, upstream }) => credential === null || upstream.apiKey !== null);
  // The registry makes one binding for each address of a declared binding. The map merges them again.
  const declared = new Map(bindings.map((binding) => [binding.upstream.declared ?? binding, binding]));
  return { check: 'model', ok, note: `${each.id}: ${[...declared.values()].map(noteOf).join(', then ')}` };
}

/** A binding in words: `openai/vllm-omni (2 addresses, GPU_KEY is not set)`. */
function noteOf({ name, credential, upstream: { declared, apiKey } }: ReadyBinding): string {
  const { dialect, base_urls: addresses = [] } = declared ?? {};
  const facts = [
    ...(addresses.length > 1 ? [`${addresses.length} addresses`] : []),
    ...(credential === null ? [] : [`${credential}${apiKey === null ? ' is not set' : ''}`]),
  ];
  const server = dialect === undefined ? name : `${name}/${dialect}`;
  return facts.length > 0 ? `${server} (${facts.join(', ')})` : server;
}

/** A missing price is no fault: the tasks succeed, and count as unpriced. */
function prices(registry: ProviderRegistry): Finding {
  const missing = unpricedBindings(registry);
  const note = missing.length === 0 ? 'every bound model has one' : `none for ${missing.join(', ')}`;
  return { check: 'prices', ok: true, note };
}

/** Whether the service is running. A stopped service is no fault: `doctor` is useful before the first start. */
async function service(config: Config): Promise<Finding> {
  const port = config.opsPort ?? config.port;
  try {
    const response = await fetch(`${addressOf(config.host, port)}/readyz`, {
      signal: AbortSignal.timeout(SERVICE_TIMEOUT_MS),
    });
    return { check: 'service', ok: response.ok, note: `answers ${response.status} on port ${port}` };
  } catch {
    return { check: 'service', ok: true, note: `not running on port ${port}` };
  }
}
