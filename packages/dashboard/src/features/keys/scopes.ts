import type { Scope } from '../../api/session.ts';
import type { Key } from './keys.documents.ts';

type GraphQLScope = Key['scopes'][number];

/** `GENERATIONS_WRITE` is `generations:write` in REST, and on the screen. */
export const scopeName = (scope: GraphQLScope): Scope => scope.toLowerCase().replace('_', ':') as Scope;

export const SCOPES: readonly { scope: GraphQLScope; means: string }[] = [
  { scope: 'GENERATIONS_WRITE', means: 'create generations, upload files' },
  { scope: 'TASKS_READ', means: 'read tasks, files and usage' },
  { scope: 'TASKS_CANCEL', means: 'cancel and delete tasks' },
  { scope: 'WEBHOOKS_MANAGE', means: 'manage webhook endpoints, see deliveries' },
  { scope: 'KEYS_MANAGE', means: 'create, change and revoke API keys' },
  { scope: 'OPERATIONS_READ', means: 'see the instance: queue, workers, providers' },
  { scope: 'OPERATIONS_MANAGE', means: 'act on the instance: pause, drain, release' },
];
