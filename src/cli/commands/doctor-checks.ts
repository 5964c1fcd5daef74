import { ApiKey } from '../../auth/api-keys/api-key.entity.ts';
import { ModelAvailability } from '../../models/model-availability.ts';
import { ProviderRegistry } from '../../providers/registry.ts';
import { SandboxProvider } from '../../providers/sandbox/sandbox.provider.ts';
import { MODELS } from '../../models/catalog.ts';
import { type Config, ConfigError, loadConfig } from '../../platform/config.ts';
import { createDataSource } from '../../platform/database/data-source.ts';
import { loadSecretKey } from '../../platform/secrets.ts';
import { openStorage } from '../../platform/storage/storage.module.ts';
import { withDatabaseUrl } from '../database.ts';
import { failureText } from '../failure-text.ts';

export interface Finding {
  check: string;
  ok: boolean;
  note: string;
}

const OLDEST_NODE = 22;
const OLDEST_POSTGRES = 14;
const SERVICE_TIMEOUT_MS = 2000;

/** Looks at everything the service needs, each thing on its own, so that one fault does not hide the next. */
export async function examine(): Promise<Finding[]> {
  const findings = [await finding('node', async () => nodeVersion())];
  let config: Config;
  try {
    config = loadConfig();
    findings.push({ check: 'configuration', ok: true, note: `role ${config.role}, data in ${config.dataDir}` });
  } catch (error) {
    return [...findings, ...faultsOf(error).map((note) => ({ check: 'configuration', ok: false, note }))];
  }
  findings.push(await finding('secret key', () => secretKey(config)));
  findings.push(...(await database(config)));
  findings.push(await finding('storage', () => storage(config)));
  findings.push(...(await models(config)));
  findings.push(await service(config));
  return findings;
}

const faultsOf = (error: unknown): readonly string[] =>
  error instanceof ConfigError ? error.faults : [failureText(error)];

async function finding(check: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { check, ok: true, note: await look() };
  } catch (error) {
    return { check, ok: false, note: failureText(error) };
  }
}

function nodeVersion(): string {
  const { node } = process.versions;
  if (Number.parseInt(node) < OLDEST_NODE) throw new Error(`${node}; at least ${OLDEST_NODE} is needed`);
  return node;
}

async function secretKey(config: Config): Promise<string> {
  await loadSecretKey(config);
  return config.secretKey ? 'from SECRET_KEY' : 'kept in DATA_DIR';
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
            ? 'some are waiting; the service runs them at its start, or `darkroom migrate` now'
            : 'up to date',
        });
        if (!pending)
          findings.push(await finding('API keys', async () => `${await dataSource.manager.count(ApiKey)} made so far`));
        if (version < OLDEST_POSTGRES) throw new Error(`PostgreSQL ${version}; at least ${OLDEST_POSTGRES} is needed`);
        return `PostgreSQL ${version}, ${config.databaseUrl ? 'from DATABASE_URL' : 'embedded'}`;
      } finally {
        await dataSource.destroy();
      }
    }),
  );
  return [reachable, ...findings];
}

async function storage(config: Config): Promise<string> {
  await (await openStorage(config)).ready();
  return config.storageUrl ? 'the bucket can be written' : 'files under DATA_DIR can be written';
}

/** Who serves each model, in order of preference, and whether the credential is there. */
async function models(config: Config): Promise<Finding[]> {
  let providers: ProviderRegistry;
  try {
    providers = new ProviderRegistry(config, new SandboxProvider(), new ModelAvailability());
    providers.onModuleInit(); // what the start would refuse: a workflow file that is not there
  } catch (error) {
    return faultsOf(error).map((note) => ({ check: 'PROVIDERS', ok: false, note }));
  }
  return MODELS.map(({ id }) => {
    const bindings = providers.bindingsOf(id);
    const ok = bindings.some(({ credential, upstream }) => credential === null || upstream.apiKey !== null);
    const served = bindings.map(({ name, credential, upstream }) => {
      if (credential === null) return name;
      return `${name} (${credential}${upstream.apiKey === null ? ' is not set' : ''})`;
    });
    return { check: 'model', ok, note: `${id}: ${served.join(', then ')}` };
  });
}

/** Tells whether it runs; that it does not is no fault, or nobody could look before the start. */
async function service(config: Config): Promise<Finding> {
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  try {
    const response = await fetch(`http://${host}:${config.port}/readyz`, {
      signal: AbortSignal.timeout(SERVICE_TIMEOUT_MS),
    });
    return { check: 'service', ok: response.ok, note: `answers ${response.status} on port ${config.port}` };
  } catch {
    return { check: 'service', ok: true, note: `not running on port ${config.port}` };
  }
}
