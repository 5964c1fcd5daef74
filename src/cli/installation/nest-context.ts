import { type INestApplicationContext, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

@Module({})
class CommandModule {}

/**
 * Runs `work` with the parts of the application that a command names. Nest builds them and runs their lifecycle hooks.
 * There is no HTTP server, no worker and no log: a failure is thrown, so that the command prints it.
 */
export async function withNestContext<T>(
  parts: ModuleMetadata,
  work: (context: INestApplicationContext) => Promise<T>,
): Promise<T> {
  const root = { module: CommandModule, ...parts };
  const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}
