import { Module } from '@nestjs/common';
import { ModelsModule } from '../models/models.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { DeclaredModels } from './declared-models.ts';
import { ProviderGauges } from './provider-gauges.ts';
import { ProviderHealth } from './provider-health.ts';
import { ProviderRegistry } from './registry.ts';
import { ReloadCredentials } from './reload-credentials.ts';
import { SandboxProvider } from './sandbox/sandbox.provider.ts';

/** What makes the content: an adapter for each provider, and the bindings of models to them. */
@Module({
  imports: [ModelsModule, TasksModule],
  providers: [DeclaredModels, ProviderGauges, ProviderHealth, ProviderRegistry, ReloadCredentials, SandboxProvider],
  exports: [ProviderRegistry],
})
export class ProvidersModule {}
