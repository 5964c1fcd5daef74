import { z } from 'zod';
import { anything, field, text } from '../wire/reply-schema.ts';

/** The answer of `POST /{endpoint}`. */
export const falSubmitted = z.object({ request_id: text() });

/**
 * The answer of `GET …/status`. There is no failed status: a failure is COMPLETED, with an error here or in the result.
 */
export const falStatus = z.object({
  /** `IN_QUEUE`, `IN_PROGRESS` or `COMPLETED`. */
  status: text(),
  error: anything(),
  error_type: text(),
});
export type FalStatus = z.infer<typeof falStatus>;

const falFile = field(z.object({ url: text() }));

/** The answer of `GET …/requests/{id}`. */
export const falResult = z.object({ images: field(z.array(falFile)), video: falFile });

/** The body of a refusal. `detail` is a list if the model refuses, and a text if the platform refuses. */
export const falRefusal = z.object({
  detail: field(z.union([z.string(), z.array(field(z.object({ msg: text(), type: text() })))])),
  error_type: text(),
});
