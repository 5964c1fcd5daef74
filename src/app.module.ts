import { type DynamicModule, Module } from '@nestjs/common';
import { AuthModule } from './auth/auth.module.ts';
import { GenerationModule } from './generation/generation.module.ts';
import { ModelsModule } from './models/models.module.ts';
import type { Config } from './platform/config.ts';
import { GraphqlModule } from './platform/graphql/graphql.module.ts';
import { PlatformModule } from './platform/platform.module.ts';
import type { Secrets } from './platform/secrets.ts';
import { TasksModule } from './tasks/tasks.module.ts';
import { WebhooksModule } from './webhooks/webhooks.module.ts';

/** What is known before Nest starts. */
export interface BootContext {
  config: Config;
  secrets: Secrets;
  /** Of a running, migrated database. */
  databaseUrl: string;
}

/** The one file that lists every module. */
@Module({})
export class AppModule {
  static forRoot(ground: BootContext): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(ground),
        GraphqlModule,
        AuthModule,
        ModelsModule,
        TasksModule,
        GenerationModule,
        WebhooksModule,
      ],
    };
  }
}
