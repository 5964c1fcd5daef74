import { type DynamicModule, Module } from '@nestjs/common';
import { AuthModule } from './auth/auth.module.ts';
import { GenerationModule } from './generation/generation.module.ts';
import { ModelsModule } from './models/models.module.ts';
import { GraphqlModule } from './platform/graphql/graphql.module.ts';
import { HealthModule } from './health/health.module.ts';
import { type BootContext, PlatformModule } from './platform/platform.module.ts';
import { TasksModule } from './tasks/tasks.module.ts';
import { WebhooksModule } from './webhooks/webhooks.module.ts';

/** The root module: lists every module. */
@Module({})
export class AppModule {
  static forRoot(context: BootContext): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(context),
        GraphqlModule,
        AuthModule,
        ModelsModule,
        TasksModule,
        GenerationModule,
        WebhooksModule,
        HealthModule,
      ],
    };
  }
}
