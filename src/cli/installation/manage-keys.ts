import { newApiKey } from '../../auth/credentials/api-key-format.ts';
import { CreateApiKeyInput, RotateApiKeyInput } from '../../auth/api-keys/api-key.inputs.ts';
import { UpdateApiKeyInput } from '../../auth/api-keys/api-key-changes.inputs.ts';
import type { ApiKey } from '../../auth/api-keys/api-key.entity.ts';
import type { ApiKeyView } from '../../auth/api-keys/api-key.view.ts';
import { ApiKeyViews } from '../../auth/api-keys/api-key-views.ts';
import { ApiKeysService } from '../../auth/api-keys/api-keys.service.ts';
import { COMMAND_LINE } from '../../auth/audit/actor.ts';
import { type CallerLimits, SCOPES } from '../../auth/access/caller.ts';
import { LIMIT_NAMES } from '../../auth/limits/api-key-limits.ts';
import { toErasureView } from '../../auth/erasure/erasure.view.ts';
import { Erasures } from '../../auth/erasure/erasures.ts';
import { loadCell } from '../../platform/config/config.ts';
import { checkInput } from '../../platform/http/input.pipe.ts';
import { TASKS_HOOK } from '../../tasks/acts/key-changes.ts';
import { USAGE_HOOK } from '../../usage/key-spending.ts';
import { budgetOf, type BudgetOptions } from '../terminal/budget-options.ts';
import { withKeyContext } from './key-context.ts';
import { NONE, noneAsNull } from '../terminal/options.ts';
import { table } from '../terminal/table.ts';

type LimitOptions<Limit> = BudgetOptions<Limit> & { [Name in keyof CallerLimits]?: Limit };

interface CreateOptions extends LimitOptions<number> {
  scopes?: string[];
  allScopes?: true;
  models?: string[];
  expires?: number;
  printOnly?: true;
  json?: true;
}

/** NONE removes the value that is set on the key. */
interface UpdateOptions extends LimitOptions<number | typeof NONE> {
  name?: string;
  scopes?: string[];
  allScopes?: true;
  models?: string[] | typeof NONE;
  expires?: number | typeof NONE;
  json?: true;
}

interface RevokeOptions {
  keepTasks?: boolean;
  children?: boolean;
  erase?: boolean;
  json?: true;
}

const PAGE_SIZE = 100;

export async function createKey(name: string, options: CreateOptions): Promise<void> {
  if (options.printOnly) {
    console.log(newApiKey(loadCell()));
    return;
  }
  const limits = definedOnly(limitsOf(options));
  const scopes = options.allScopes ? SCOPES : options.scopes;
  const input = checkInput(
    CreateApiKeyInput,
    definedOnly({ name, scopes, limits, models: options.models, expires_at: options.expires }),
  );
  await withApiKeys(async (apiKeys, views) =>
    printIssued(await views.issued(await apiKeys.create(input.toNewApiKey(), COMMAND_LINE)), options),
  );
}

export async function listKeys(options: { json?: true }): Promise<void> {
  await withApiKeys(async (apiKeys, views) => {
    const all: ApiKey[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await apiKeys.list({ limit: PAGE_SIZE, after: all.at(-1)?.id });
      all.push(...page.apiKeys);
      hasMore = page.hasMore;
    }
    const shown = await views.all(all);
    if (options.json) console.log(JSON.stringify(shown, null, 2));
    else if (shown.length === 0) console.log('There are no keys. Create one: npx darkroom keys create');
    else console.log(table(shown.map(row)));
  });
}

export async function rotateKey(id: string, options: { overlapHours: number; json?: true }): Promise<void> {
  const { overlap_hours = 0 } = checkInput(RotateApiKeyInput, { overlap_hours: options.overlapHours });
  await withApiKeys(async (apiKeys, views) =>
    printIssued(await views.issued(await apiKeys.rotate(id, { overlapHours: overlap_hours }, COMMAND_LINE)), options),
  );
}

export async function updateKey(id: string, options: UpdateOptions): Promise<void> {
  const limits = definedOnly(limitsOf(options));
  const input = checkInput(
    UpdateApiKeyInput,
    definedOnly({
      name: options.name,
      scopes: options.allScopes ? SCOPES : options.scopes,
      models: noneAsNull(options.models),
      expires_at: noneAsNull(options.expires),
      ...(Object.keys(limits).length > 0 && { limits }),
    }),
  );
  await withApiKeys(async (apiKeys, views) => {
    const view = await views.of(await apiKeys.update(id, input.toChanges(), COMMAND_LINE));
    console.log(options.json ? JSON.stringify(view, null, 2) : table([row(view)]));
  });
}

export async function revokeKey(
  id: string,
  { keepTasks = false, children = false, erase = false, json }: RevokeOptions = {},
): Promise<void> {
  if (erase && children) throw new Error('--erase is for one key: leave out --children, and erase each.');
  if (erase) return eraseKey(id, { keepTasks, json });
  await withApiKeys((apiKeys) => apiKeys.revoke(id, { keepTasks, children }, COMMAND_LINE));
  if (json) return console.log(JSON.stringify({ id, revoked: true }, null, 2));
  console.error(`${id} is revoked${keepTasks ? '' : ', and its queued tasks are cancelled'}.`);
}

async function eraseKey(
  id: string,
  { keepTasks, json }: { keepTasks: boolean; json?: true | undefined },
): Promise<void> {
  if (keepTasks) throw new Error('--erase deletes all tasks: leave out --keep-tasks.');
  await withKeyContext(async (context) => {
    registerHooks(context.get(ApiKeysService));
    const erasure = toErasureView(await context.get(Erasures).start(id, COMMAND_LINE));
    if (json) return console.log(JSON.stringify(erasure, null, 2));
    console.error(
      `${id} is revoked. Running services erase what was sent with it or made for it: GET /v1/erasures/${erasure.id}`,
    );
  });
}

function withApiKeys(work: (apiKeys: ApiKeysService, views: ApiKeyViews) => Promise<void>): Promise<void> {
  return withKeyContext(async (context) => {
    const apiKeys = context.get(ApiKeysService);
    registerHooks(apiKeys);
    await work(apiKeys, context.get(ApiKeyViews));
  });
}

function registerHooks(apiKeys: ApiKeysService): void {
  for (const hook of [TASKS_HOOK, USAGE_HOOK]) apiKeys.registerHook(hook);
}

/** Without --json, only the key goes to stdout, so that a script can capture it: `KEY=$(darkroom keys create ci)`. */
function printIssued(view: ApiKeyView, { json }: { json?: true }): void {
  if (json) {
    console.log(JSON.stringify(view, null, 2));
    return;
  }
  console.error(`${view.id} "${view.name}" (${view.scopes.join(', ')}). This key is not shown again:`);
  console.log(view.key);
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
    models: view.models?.join(',') ?? '-',
    scopes: view.scopes.join(','),
    name: view.name,
  };
}

function definedOnly<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}

function limitsOf<Limit>(options: LimitOptions<Limit>): object {
  const limits = Object.entries(LIMIT_NAMES).map(([key, name]) => [name, options[key as keyof CallerLimits]]);
  const given = Object.entries({ ...Object.fromEntries(limits), budget: budgetOf(options) });
  return Object.fromEntries(given.map(([name, limit]) => [name, noneAsNull(limit)]));
}
