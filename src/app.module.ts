import { type DynamicModule, Module } from '@nestjs/common';
import { AuthModule } from './auth/auth.module.ts';
import { BatchesModule } from './batches/batches.module.ts';
import { DashboardModule } from './dashboard/dashboard.module.ts';
import { FilesModule } from './files/files.module.ts';
import { GenerationModule } from './generation/generation.module.ts';
import { ModelsModule } from './models/models.module.ts';
import { GraphqlModule } from './platform/graphql/graphql.module.ts';
import { AboutModule } from './health/about.module.ts';
import { HealthModule } from './health/health.module.ts';
import { McpModule } from './mcp/mcp.module.ts';
import { type BootContext, PlatformModule } from './platform/platform.module.ts';
import { OpenaiModule } from './openai/openai.module.ts';
import { OperationsModule } from './operations/operations.module.ts';
import { HeartbeatModule } from './operations/heartbeat.module.ts';
import { TasksModule } from './tasks/tasks.module.ts';
import { UsageModule } from './usage/usage.module.ts';
import { WebhooksModule } from './webhooks/webhooks.module.ts';

/** The root module. A module that is not listed here is imported by the modules that need it. */
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
        FilesModule,
        GenerationModule,
        BatchesModule,
        OpenaiModule,
        ...(context.config.mcp ? [McpModule] : []),
        UsageModule,
        WebhooksModule,
        OperationsModule,
        HeartbeatModule,
        DashboardModule,
        AboutModule,
        HealthModule,
      ],
    };
  }
}
