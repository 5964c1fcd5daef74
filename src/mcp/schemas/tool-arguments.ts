import type { ArgumentSchema } from './model-arguments.ts';

/** The input of a tool. The schema is flat and has no alternatives at the top, because several LLM APIs refuse them. */
export interface ToolInput {
  type: 'object';
  properties: Record<string, ArgumentSchema>;
  required: string[];
  additionalProperties: false;
}

/** @param required the names of the required properties */
export const toolInput = (properties: Record<string, ArgumentSchema>, required: string[] = []): ToolInput => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** The maximum number of seconds that a call may ask to wait. */
export const MAX_WAIT_S = 300;

export const waitArgument = (byDefault: number): ArgumentSchema => ({
  type: 'integer',
  minimum: 0,
  maximum: MAX_WAIT_S,
  default: byDefault,
  description: 'Seconds to wait for the end. The answer comes earlier if the task ends, and later with get_task.',
});

export const PREVIEWS = ['inline', 'none'] as const;
export type PreviewChoice = (typeof PREVIEWS)[number];

export const previewArgument: ArgumentSchema = {
  type: 'string',
  enum: PREVIEWS,
  default: 'inline',
  description:
    'Whether the answer carries a small JPEG of each output, for you to look at. The links lead to the originals.',
};

export const taskIdArgument: ArgumentSchema = { type: 'string', description: 'The id of the task, task_….' };
