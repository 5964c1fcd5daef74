import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKeyGuard } from './api-key.guard.ts';
import { ApiKeySecret } from './api-keys/api-key-secret.entity.ts';
import { ApiKeyViews } from './api-keys/api-key-views.ts';
import { ApiKey } from './api-keys/api-key.entity.ts';
import { ApiKeysController } from './api-keys/api-keys.controller.ts';
import { ApiKeysService } from './api-keys/api-keys.service.ts';
import { AuditController } from './audit/audit.controller.ts';
import { AuditEvent } from './audit/audit-event.entity.ts';
import { AuditLog } from './audit/audit-log.ts';
import { AuditPurge } from './audit/audit-purge.ts';
import { AuditResolver } from './audit/audit.resolver.ts';
import { Bootstrap } from './api-keys/bootstrap.ts';
import { KeyBudget } from './budgets/key-budget.entity.ts';
import { KeyBudgets } from './budgets/key-budgets.ts';
import { KeyNames } from './api-keys/key-names.ts';
import { RevokedKeySweep } from './api-keys/revoked-key-sweep.ts';
import { Authenticator } from './authenticator.ts';
import { KeyBeforeBody } from './key-before-body.ts';
import { KeyWatch } from './key-watch.ts';
import { LastUse } from './last-use.ts';
import { RateCount } from './rate-limits/rate-count.entity.ts';
import { RateWindowPurge } from './rate-limits/rate-window-purge.ts';
import { RateLimits } from './rate-limits/rate-limits.ts';
import { DeleteRateWindows } from './sql/delete-rate-windows.ts';
import { SocketAuth } from './socket-auth.ts';
import { ViewerResolver } from './viewer.resolver.ts';

/** API keys: issuing, authentication, scopes and rate limits. The guard runs for every route and resolver; `@Public()` exempts one. */
@Module({
  imports: [TypeOrmModule.forFeature([ApiKey, ApiKeySecret, AuditEvent, KeyBudget, RateCount])],
  controllers: [ApiKeysController, AuditController],
  providers: [
    ApiKeysService,
    ApiKeyViews,
    AuditLog,
    AuditPurge,
    AuditResolver,
    Authenticator,
    Bootstrap,
    DeleteRateWindows,
    KeyBeforeBody,
    KeyBudgets,
    KeyNames,
    KeyWatch,
    LastUse,
    RateLimits,
    RateWindowPurge,
    RevokedKeySweep,
    SocketAuth,
    ViewerResolver,
    { provide: APP_GUARD, useClass: ApiKeyGuard },
  ],
  exports: [ApiKeysService, AuditLog, Bootstrap, KeyBudgets, KeyNames, KeyWatch],
})
export class AuthModule {}
