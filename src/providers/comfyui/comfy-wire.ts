import { z } from 'zod';
import { anything, field, text } from '../wire/reply-schema.ts';

const record = z.record(z.string(), z.unknown());

/** The record of a run that has ended. */
export const historyEntry = z.object({
  /** The outputs by node id. Videos are under `images` too; some extensions use `gifs` or `videos`. */
  outputs: field(z.record(z.string(), field(record))),
  status: field(z.object({ status_str: text(), messages: field(z.array(z.unknown())) })),
});
export type HistoryEntry = z.infer<typeof historyEntry>;

/** The answer of `GET /history/{id}`: records by run id. It is empty if the run has not ended or does not exist. */
export const history = z.record(z.string(), z.unknown());

/** The answer of `GET /queue`. An item is `[number, prompt id, workflow, …]`. */
export const queue = z.object({ queue_running: items(), queue_pending: items() });

/** The run ids of one list of the queue. */
export const idsIn = (list: z.infer<ReturnType<typeof items>>): unknown[] => (list ?? []).map((item) => item?.[1]);

/** The answer of `POST /prompt`. */
export const submitted = z.object({ prompt_id: text() });

/** The answer of `POST /upload/image`. */
export const upload = z.object({ name: text(), subfolder: text() });

/** The answer to a refused submission. */
export const refusal = z.object({
  error: field(z.object({ type: text(), message: text() })),
  node_errors: field(
    z.record(
      z.string(),
      field(
        z.object({
          class_type: text(),
          errors: field(z.array(field(z.object({ type: text(), message: text(), details: text() })))),
        }),
      ),
    ),
  ),
});

/** A message of the server's socket. Binary frames are previews and are not read. */
export const socketMessage = z.object({ type: z.string(), data: record });
export type SocketMessage = z.infer<typeof socketMessage>;

/** Data of the event `execution_error`. */
export const executionError = z.object({
  node_type: anything(),
  exception_type: anything(),
  exception_message: anything(),
});

/** A file in `outputs`. Its fields are the parameters of `GET /view`, which returns the content. */
export const outputFile = z.object({ filename: z.string(), type: z.string(), subfolder: text() });

function items() {
  return field(z.array(field(z.array(z.unknown()))));
}
