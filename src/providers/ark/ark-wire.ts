import { z } from 'zod';
import { field, number, text } from '../wire/reply-schema.ts';

/** A generation task. `GET /contents/generations/tasks/{id}` returns all of it, the create call only its id. */
export const arkTask = z.object({
  id: text(),
  /** `queued`, `running`, `succeeded`, `failed`, `cancelled` or `expired`. */
  status: text(),
  error: field(z.object({ code: text(), message: text() })),
  content: field(z.object({ video_url: text() })),
  /** Unix seconds. */
  created_at: number(),
  seed: number(),
  /** Only in a task that has succeeded. */
  usage: field(z.object({ completion_tokens: number(), total_tokens: number() })),
});
export type ArkTask = z.infer<typeof arkTask>;

/** One page of the account's tasks. */
export const arkList = z.object({ total: number(), items: field(z.array(arkTask)) });

/** The body of a refused call. */
export const arkRefusal = z.object({ error: field(z.object({ code: text(), message: text(), request_id: text() })) });
