import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiKeyGuard } from './api-key.guard.ts';
import { ApiKeysController } from './api-keys/api-keys.controller.ts';
import { ApiKeysService } from './api-keys/api-keys.service.ts';
import { Authenticator } from './authenticator.ts';
import { Bootstrap } from './api-keys/bootstrap.ts';
import { KeyWatch } from './live-keys.ts';
import { LastUse } from './last-use.ts';
import { RateLimits } from './rate-limits/rate-limits.ts';
import { SocketAuth } from './socket-auth.ts';
import { ViewerResolver } from './viewer.resolver.ts';

/** Who asks. Its guard stands before every route and resolver of the application; `@Public()` opens one. */
@Module({
  controllers: [ApiKeysController],
  providers: [
    ApiKeysService,
    Authenticator,
    Bootstrap,
    LastUse,
    KeyWatch,
    RateLimits,
    SocketAuth,
    ViewerResolver,
    { provide: APP_GUARD, useClass: ApiKeyGuard },
  ],
  exports: [ApiKeysService, Authenticator, Bootstrap, KeyWatch, RateLimits],
})
export class AuthModule {}
