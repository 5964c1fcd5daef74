import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { callerOf, lackOf, requestOf } from '../access/access.ts';
import type { Caller } from '../access/caller.ts';
import type { AuditTarget } from './audit-event.entity.ts';

/** Operators read all acts; administrators of keys read the acts on keys. */
@Injectable()
export class AuditScopeGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { scopes } = callerOf(requestOf(context));
    if (!scopes.includes('operations:read') && !scopes.includes('keys:manage')) throw lackOf('operations:read');
    return true;
  }
}

/** The filter for the acts that a caller may read, once the guard has let the caller pass. */
export const visibleTo = ({ scopes }: Caller): { targetType?: AuditTarget } =>
  scopes.includes('operations:read') ? {} : { targetType: 'api_key' };
