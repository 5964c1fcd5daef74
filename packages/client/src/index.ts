/** The entry for browsers and Workers. node.ts adds the file system. */
export { Darkroom } from './darkroom.ts';
export * from './errors.ts';
export type { CallOptions, DarkroomOptions } from './http/transport.ts';
export type { FinishedTask, Output } from './output.ts';
export type { Pages } from './pages.ts';
export type { UsageQuery } from './resources/account.ts';
export {
  type BatchItem,
  type BatchOptions,
  type BatchRequests,
  type BatchResult,
  BatchRun,
} from './resources/batches.ts';
export type { ListTasks } from './resources/tasks.ts';
export { type CreateOptions, Run, type WaitOptions } from './run.ts';
export type * from './types.gen.ts';
export { type DarkroomEvent, verifyWebhook } from './webhooks.ts';
