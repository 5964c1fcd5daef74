import { AuthModule } from '../../auth/auth.module.ts';
import { BatchesModule } from '../../batches/batches.module.ts';
import { GenerationModule } from '../../generation/generation.module.ts';
import { ModelsModule } from '../../models/models.module.ts';
import { OperationsModule } from '../../operations/operations.module.ts';
import { GraphqlModule } from '../../platform/graphql/graphql.module.ts';
import { TasksModule } from '../../tasks/tasks.module.ts';
import { WebhooksModule } from '../../webhooks/webhooks.module.ts';
import { withService } from '../installation/with-service.ts';
import { callRoute } from './database-routes.ts';
import type { Operator } from './operator.ts';

/**
 * Every module that reacts to the end of a task is here: otherwise a task that an operator ends would send no webhook.
 */
const MODULES = [
  GraphqlModule,
  AuthModule,
  ModelsModule,
  TasksModule,
  GenerationModule,
  BatchesModule,
  WebhooksModule,
  OperationsModule,
];

/**
 * Runs `work` with an operator that needs no running service and no key: access to the database is enough.
 * @throws Error when the database lacks migrations of this program
 */
export const onDatabase = <Result>(work: (operator: Operator) => Promise<Result>): Promise<Result> =>
  withService(MODULES, (app) =>
    work({
      call: (method, path, body) => callRoute(app, method, path, body),
      once: (method, path, body) => callRoute(app, method, path, body),
    }),
  );
