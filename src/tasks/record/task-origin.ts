import { defineChoice } from '../../platform/schema/choice.ts';

/** By which interface a task was created: `api` is REST and GraphQL. */
export const TASK_SOURCES = ['api', 'openai', 'gemini', 'mcp', 'batch'] as const;
export type TaskSource = (typeof TASK_SOURCES)[number];
export const TaskSourceChoice = defineChoice('TaskSource', TASK_SOURCES, 'By which interface a task was created.');

/**
 * What a task is to its parent: the same request again, a changed one, or another prompt with the parent's parameters.
 */
export const TASK_RELATIONS = ['retry', 'variation', 'remix'] as const;
export type TaskRelation = (typeof TASK_RELATIONS)[number];

/** Facts about a new task that are no parameters of its model. */
export interface TaskOrigin {
  source: TaskSource;
  /** Id of the task that the new one was made from; always of the same API key. */
  parent: string | null;
  relation: TaskRelation | null;
  /** 0 to 3: the most partial images that the worker stores for each picture. */
  partialImages: number;
}

export const FROM_API: TaskOrigin = { source: 'api', parent: null, relation: null, partialImages: 0 };
