import { resolve } from 'node:path';
import type { z } from 'zod';
import { addressOf } from './address-of.ts';
import { hostsOf } from './database-hosts.ts';
import type { LevelSettings } from './log-levels.ts';
import { PROVIDER_SETTINGS, type ProviderVariable } from './provider-settings.ts';
import type { Setting } from './setting.ts';
import { fromFile, textOf, withFiles } from './setting-files.ts';
import { SETTINGS } from './settings.ts';

type Values<Table extends Record<string, Setting>> = { [Name in keyof Table]: z.output<Table[Name]['schema']> };
type Settings = Values<typeof SETTINGS>;

/**
 * Gives `Config` the properties of `SETTINGS`, except those that `Config` declares. If a value has a unit, its name
 * contains the unit.
 */
const FromTable = Object as unknown as new () => Omit<Settings, 'publicUrl' | 'graphqlIntrospection'>;

/** The configuration, frozen. This class is also its injection token. */
export class Config extends FromTable {
  /** Base of all links, without a trailing slash. */
  publicUrl: string;
  graphqlIntrospection: boolean;
  /** Whether NODE_ENV is production. */
  isProduction: boolean;
  credentials: Readonly<Record<ProviderVariable, string | null>>;
  /**
   * The value of a variable, or the content of the file that `NAME_FILE` names; null if neither is set.
   * @throws Error for the operator if both are set, or the file cannot be read or is empty
   */
  secretOf: (variable: string) => string | null;
}

export type Role = Config['role'];

/**
 * Variables whose value may be in a file: then `NAME_FILE` has the path in place of `NAME`. The credentials that
 * bindings name may be in files too.
 */
const VARIABLES = [...Object.values(SETTINGS), ...Object.values(PROVIDER_SETTINGS)].map(({ variable }) => variable);

/** Reports a wrong configuration. The message lists every fault, one per line. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The configuration is wrong:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Reads all settings of the service. Libraries such as AWS's, the embedded PostgreSQL and the command line read other
 * variables themselves.
 * @throws ConfigError with all faults at once. The message never repeats the value of a secret
 */
export function loadConfig(given: NodeJS.ProcessEnv = process.env): Config {
  const { config, faults } = readConfig(given);
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/**
 * Like `loadConfig`, but returns the faults, because the caller adds its own faults. A setting with a fault has its
 * default.
 */
export function readConfig(given: NodeJS.ProcessEnv): { config: Config; faults: string[] } {
  const faults: string[] = [];
  const env = withFiles(given, VARIABLES, faults);
  const settings = readAll(SETTINGS, env, faults);
  const credentials = readAll(PROVIDER_SETTINGS, env, faults);
  const check = (holds: boolean, fault: string): void => void (holds || faults.push(fault));
  check(settings.taskHeartbeatS * 2 <= settings.taskLeaseS, 'TASK_HEARTBEAT_S must be at most half of TASK_LEASE_S');
  check(
    settings.fileRetentionDays <= settings.taskRetentionDays,
    'FILE_RETENTION_DAYS must not be longer than TASK_RETENTION_DAYS',
  );
  check(settings.opsPort === null || settings.opsPort !== settings.port, 'OPS_PORT must be another port than PORT');
  const secretKey = textOf(env, 'SECRET_KEY');
  check(
    !textOf(env, 'DATABASE_URL') || secretKey !== undefined || textOf(env, 'SECRET_KEY_FILE') !== undefined,
    'SECRET_KEY is required when DATABASE_URL is set',
  );
  const isPooled = settings.databasePooler === 'transaction';
  check(
    !isPooled || (settings.databaseUrl !== null && settings.databaseDirectUrl !== null),
    'DATABASE_URL and DATABASE_DIRECT_URL are required when DATABASE_POOLER is transaction',
  );
  check(
    !isPooled || settings.databaseUrl === null || !hostsOf(settings.databaseUrl).isPrimaryWanted,
    'DATABASE_URL must name one pooler, without target_session_attrs, when DATABASE_POOLER is transaction: a pooler does not ' +
      'tell which of its servers takes writes. DATABASE_DIRECT_URL may name several servers',
  );
  check(isPooled || settings.databaseDirectUrl === null, 'DATABASE_DIRECT_URL is only for DATABASE_POOLER=transaction');
  check(
    settings.role !== 'worker' || settings.publicUrl !== null,
    'PUBLIC_URL is required when ROLE is worker: webhooks carry links to files, which only the other processes serve',
  );
  check(
    settings.publicUrl !== null || settings.port !== 0,
    'PUBLIC_URL is required when PORT is 0: links carry the port',
  );
  check(
    settings.provenance !== 'c2pa' || (settings.c2paCert !== null && settings.c2paKey !== null),
    'C2PA_CERT and C2PA_KEY are required when PROVENANCE is c2pa',
  );
  check(
    settings.fileDelivery === 'proxy' || settings.storageUrl !== null,
    'FILE_DELIVERY=redirect requires STORAGE_URL: files on disk have no other server',
  );
  const { host, port, dataDir, publicUrl, graphqlIntrospection } = settings;
  const isProduction = env.NODE_ENV === 'production';
  const config = Object.freeze({
    ...settings,
    dataDir: resolve(dataDir),
    models: settings.models === null ? null : resolve(settings.models),
    publicUrl: (publicUrl ?? addressOf(host, port)).replace(/\/+$/, ''),
    graphqlIntrospection: graphqlIntrospection ?? !isProduction,
    isProduction,
    credentials,
    secretOf: (variable: string) => fromFile(given, variable) ?? textOf(given, variable) ?? null,
  });
  return { config, faults };
}

/**
 * Reads CELL alone, for a command that may run before the rest of the configuration exists.
 * @returns null if CELL is unset
 * @throws ConfigError
 */
export function loadCell(env: NodeJS.ProcessEnv = process.env): string | null {
  const faults: string[] = [];
  const { cell } = readAll({ cell: SETTINGS.cell }, withFiles(env, [SETTINGS.cell.variable], faults), faults);
  if (faults.length > 0) throw new ConfigError(faults);
  return cell;
}

/** Reads only the settings that loading the models needs. @throws ConfigError */
export function loadModelSettings(
  env: NodeJS.ProcessEnv = process.env,
): Pick<Config, 'models' | 'dataDir' | 'openaiModelAliases'> {
  const faults: string[] = [];
  const { models, dataDir, openaiModelAliases } = SETTINGS;
  const read = readAll({ models, dataDir, openaiModelAliases }, env, faults);
  if (faults.length > 0) throw new ConfigError(faults);
  return { ...read, dataDir: resolve(read.dataDir) };
}

/** Reads the levels of the log again, while the process runs. @throws ConfigError */
export function loadLogLevels(env: NodeJS.ProcessEnv): LevelSettings {
  const faults: string[] = [];
  const { logLevel, logLevels } = SETTINGS;
  const levels = readAll({ logLevel, logLevels }, env, faults);
  if (faults.length > 0) throw new ConfigError(faults);
  return levels;
}

/** Quotes around a value are a mistake: no setting needs them. */
const QUOTED = /^(["']).*\1$/s;

/** A setting with a fault gets its default, so that the faults of the other settings are found too. */
function readAll<Table extends Record<string, Setting>>(
  table: Table,
  env: Readonly<Record<string, string | undefined>>,
  faults: string[],
): Values<Table> {
  const values = Object.entries(table).map(([name, { variable, schema, keepsEmpty }]) => {
    const text = keepsEmpty ? env[variable]?.trim() : textOf(env, variable);
    const result = schema.safeParse(text);
    if (QUOTED.test(text ?? '')) faults.push(`${variable} must not be in quotes: \`docker run --env-file\` keeps them`);
    else if (result.success) return [name, result.data];
    else faults.push(...result.error.issues.map(({ message }) => `${variable} ${message}`));
    return [name, schema.parse(undefined)];
  });
  return Object.fromEntries(values) as Values<Table>;
}
