import { Module, type OnModuleInit } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKeyGuard, KeyBeforeBody } from './api-key.guard.ts';
import { ApiKeySecret } from './api-keys/api-key-secret.entity.ts';
import { ApiKeyViews } from './api-keys/api-key-views.ts';
import { ApiKey } from './api-keys/api-key.entity.ts';
import { ApiKeysController } from './api-keys.controller.ts';
import { ApiKeysResolver } from './api-keys.resolver.ts';
import { ApiKeysService } from './api-keys/api-keys.service.ts';
import { AuditController } from './audit/audit.controller.ts';
import { AuditEvent } from './audit/audit-event.entity.ts';
import { AuditLog } from './audit/audit-log.ts';
import { AuditPurge } from './audit/audit-purge.ts';
import { AuditResolver } from './audit/audit.resolver.ts';
import type { Caller } from './access/caller.ts';
import { Bootstrap } from './api-keys/bootstrap.ts';
import { Erasure } from './erasure/erasure.entity.ts';
import { ErasureSteps } from './erasure/erasure-steps.ts';
import { ErasureWorker } from './erasure/erasure.worker.ts';
import { ErasuresController } from './erasure/erasures.controller.ts';
import { ErasuresResolver } from './erasure/erasures.resolver.ts';
import { Erasures } from './erasure/erasures.ts';
import { Nodes } from './access/nodes.ts';
import { NodeResolver } from './node.resolver.ts';
import { GraphqlRates } from './graphql-rates.ts';
import { KeyBudget } from './limits/key-budget.entity.ts';
import { KeyBudgets } from './limits/key-budgets.ts';
import { KeyLimits } from './api-keys/key-limits.ts';
import { KeyNames } from './api-keys/key-names.ts';
import { RevokedKeySweep } from './api-keys/revoked-key-sweep.ts';
import { Authenticator } from './credentials/authenticator.ts';
import { Credentials } from './credentials/credential.ts';
import { KeyHashes } from './credentials/key-hashes.ts';
import { KeyWatch } from './credentials/key-watch.ts';
import { LastUse } from './credentials/last-use.ts';
import { DocumentRates } from './limits/document-rates.ts';
import { KeylessRate } from './limits/keyless-rate.ts';
import { RateCount } from './limits/rate-count.entity.ts';
import { RateWindowPurge } from './limits/rate-window-purge.ts';
import { RateLimits } from './limits/rate-limits.ts';
import { DeleteRateWindows } from './limits/sql/delete-rate-windows.ts';
import { EraseAuthRows } from './erasure/sql/erase-auth-rows.ts';
import { ErasureRows } from './erasure/sql/erasure-rows.ts';
import { OneTimeCode } from './sessions/one-time-code.entity.ts';
import { OneTimeCodes } from './sessions/one-time-codes.ts';
import { SessionController } from './sessions/session.controller.ts';
import { Session } from './credentials/session.entity.ts';
import { SessionPurge } from './sessions/session-purge.ts';
import { SessionsResolver } from './sessions/sessions.resolver.ts';
import { SessionsService } from './sessions/sessions.service.ts';
import { SignInTries } from './sessions/sign-in-tries.ts';
import { SocketAuth } from './socket-auth.ts';
import { WorkingKeys } from './credentials/working-keys.ts';
import { ViewerResolver } from './viewer.resolver.ts';

/**
 * API keys and browser sessions: issuing, authentication, scopes and rate limits. The guard runs for every route of a
 * controller and every root resolver; `@Public()` exempts a handler or a class.
 */
@Module({
  imports: [
    TypeOrmModule.forFeature([ApiKey, ApiKeySecret, AuditEvent, Erasure, KeyBudget, OneTimeCode, RateCount, Session]),
  ],
  controllers: [ApiKeysController, AuditController, ErasuresController, SessionController],
  providers: [
    ApiKeysResolver,
    ApiKeysService,
    ApiKeyViews,
    AuditLog,
    AuditPurge,
    AuditResolver,
    Authenticator,
    Bootstrap,
    Credentials,
    DeleteRateWindows,
    KeyHashes,
    KeyLimits,
    EraseAuthRows,
    ErasureRows,
    DocumentRates,
    ErasureSteps,
    ErasureWorker,
    Erasures,
    ErasuresResolver,
    GraphqlRates,
    KeyBeforeBody,
    KeyBudgets,
    KeylessRate,
    KeyNames,
    KeyWatch,
    LastUse,
    NodeResolver,
    Nodes,
    OneTimeCodes,
    RateLimits,
    RateWindowPurge,
    RevokedKeySweep,
    SessionPurge,
    SessionsResolver,
    SessionsService,
    SignInTries,
    SocketAuth,
    ViewerResolver,
    WorkingKeys,
    { provide: APP_GUARD, useClass: ApiKeyGuard },
  ],
  exports: [
    ApiKeysService,
    AuditLog,
    Bootstrap,
    Credentials,
    ErasureSteps,
    KeyBudgets,
    KeyLimits,
    KeylessRate,
    KeyNames,
    KeyWatch,
    Nodes,
    OneTimeCodes,
    RateLimits,
    WorkingKeys,
  ],
})
export class AuthModule implements OnModuleInit {
  constructor(
    private readonly nodes: Nodes,
    private readonly keys: ApiKeysService,
    private readonly views: ApiKeyViews,
  ) {}

  onModuleInit(): void {
    const find = async (_caller: Caller, id: string) => this.views.of(await this.keys.find(id));
    this.nodes.register({ prefix: 'key', name: 'ApiKey', scope: 'keys:manage', find });
  }
}
