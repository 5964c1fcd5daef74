import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { newApiKey } from '../auth/api-keys/api-key-format.ts';
import { CreateApiKeyInput, RotateApiKeyInput } from '../auth/api-keys/api-key.inputs.ts';
import { ApiKey } from '../auth/api-keys/api-key.entity.ts';
import { ApiKeySecret } from '../auth/api-keys/api-key-secret.entity.ts';
import { type ApiKeyView, toApiKeyView } from '../auth/api-keys/api-key.view.ts';
import { ApiKeysService, type IssuedApiKey } from '../auth/api-keys/api-keys.service.ts';
import { Authenticator } from '../auth/authenticator.ts';
import { SCOPES } from '../auth/caller.ts';
import { LastUse } from '../auth/last-use.ts';
import { Config, loadConfig } from '../platform/config.ts';
import { DatabaseModule } from '../platform/database/database.module.ts';
import { ValidationPipe } from '../platform/schema/validation.pipe.ts';
import { loadSecretKey, Secrets } from '../platform/secrets.ts';
import { withDatabaseUrl } from './database.ts';
import { withNestContext } from './nest-context.ts';
import { table } from './table.ts';

interface CreateOptions {
  scopes?: string[];
  allScopes?: true;
  expires?: number;
  createsPerMinute?: number;
  readsPerMinute?: number;
  maxRunning?: number;
  maxQueued?: number;
  printOnly?: true;
  json?: true;
}

const PAGE_SIZE = 100;

export async function createKey(name: string, options: CreateOptions): Promise<void> {
  if (options.printOnly) {
    console.log(newApiKey());
    return;
  }
  const limits = definedOnly({
    creates_per_minute: options.createsPerMinute,
    reads_per_minute: options.readsPerMinute,
    max_running: options.maxRunning,
    max_queued: options.maxQueued,
  });
  const scopes = options.allScopes ? SCOPES : options.scopes;
  const input = checked(CreateApiKeyInput, definedOnly({ name, scopes, limits, expires_at: options.expires }));
  await withApiKeys(async (apiKeys, config) =>
    printIssued(await apiKeys.create(input.toNewApiKey(), null), config, options),
  );
}

export async function listKeys(options: { json?: true }): Promise<void> {
  await withApiKeys(async (apiKeys, config) => {
    const all: ApiKey[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await apiKeys.list({ limit: PAGE_SIZE, after: all.at(-1)?.id });
      all.push(...page.apiKeys);
      hasMore = page.hasMore;
    }
    const views = all.map((apiKey) => toApiKeyView(apiKey, config));
    if (options.json) console.log(JSON.stringify(views, null, 2));
    else if (views.length === 0) console.log('There are no keys. Create one: darkroom keys create');
    else console.log(table(views.map(row)));
  });
}

export async function rotateKey(id: string, options: { overlapHours: number; json?: true }): Promise<void> {
  const { overlap_hours = 0 } = checked(RotateApiKeyInput, { overlap_hours: options.overlapHours });
  await withApiKeys(async (apiKeys, config) =>
    printIssued(await apiKeys.rotate(id, { overlapHours: overlap_hours }, null), config, options),
  );
}

export async function revokeKey(id: string): Promise<void> {
  await withApiKeys((apiKeys) => apiKeys.revoke(id));
  console.error(`${id} is revoked.`);
}

/** @throws Error when migrations are pending: a command does not change the schema without being asked to */
async function withApiKeys(work: (apiKeys: ApiKeysService, config: Config) => Promise<void>): Promise<void> {
  const config = loadConfig();
  await withDatabaseUrl(config, async (url) => {
    const secrets = new Secrets(await loadSecretKey(config));
    const parts = {
      imports: [DatabaseModule.connect(url), TypeOrmModule.forFeature([ApiKey, ApiKeySecret])],
      providers: [
        ApiKeysService,
        Authenticator,
        LastUse,
        { provide: Config, useValue: config },
        { provide: Secrets, useValue: secrets },
      ],
    };
    await withNestContext(parts, async (context) => {
      if (await context.get(DataSource).showMigrations()) {
        throw new Error('The database is not up to date. Run `darkroom migrate`, or start the service once.');
      }
      await work(context.get(ApiKeysService), config);
    });
  });
}

/** Applies the validation rules of the HTTP API. */
function checked<Input extends object>(type: new () => Input, input: object): Input {
  return new ValidationPipe().transform(input, { type: 'body', metatype: type }) as Input;
}

/** Only the key goes to stdout, so that a script can capture it: `KEY=$(darkroom keys create ci)`. */
function printIssued({ apiKey, key }: IssuedApiKey, config: Config, { json }: { json?: true }): void {
  if (json) {
    console.log(JSON.stringify(toApiKeyView(apiKey, config, key), null, 2));
    return;
  }
  console.error(`${apiKey.id} "${apiKey.name}" (${apiKey.scopes.join(', ')}). This key is not shown again:`);
  console.log(key);
}

function row(view: ApiKeyView) {
  const time = (seconds: number | null) =>
    seconds === null ? '-' : new Date(seconds * 1000).toISOString().slice(0, 16);
  return {
    id: view.id,
    hint: view.hint,
    created: time(view.created_at),
    expires: time(view.expires_at),
    'last used': time(view.last_used_at),
    scopes: view.scopes.join(','),
    name: view.name,
  };
}

function definedOnly<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}
