import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { assertScope, callerOf, requestOf } from '../auth/access/access.ts';

/** A key needs `tasks:read` to read its own usage, and `keys:manage` to read that of other keys. */
@Injectable()
export class UsageScopeGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const caller = callerOf(request);
    const asked = askedKey(context);
    const isOwn = asked === undefined || asked === null || asked === caller.apiKeyId;
    assertScope(caller, isOwn ? 'tasks:read' : 'keys:manage');
    return true;
  }
}

function askedKey(context: ExecutionContext): unknown {
  if (context.getType<string>() === 'graphql') return context.getArgByIndex<{ apiKeyId?: unknown }>(1).apiKeyId;
  return context.switchToHttp().getRequest<{ query: { api_key_id?: unknown } }>().query.api_key_id;
}
