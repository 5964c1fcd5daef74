import { z } from 'zod';
import { anything, field, text } from '../wire/reply-schema.ts';

/** Of `POST /{endpoint}`. */
export const falSubmitted = z.object({ request_id: text() });

/** Of `GET …/status`. There is no failed status: a failure is COMPLETED with an error here or in the result. */
export const falStatus = z.object({
  /** IN_QUEUE IN_PROGRESS COMPLETED */
  status: text(),
  error: anything(),
  error_type: text(),
});
export type FalStatus = z.infer<typeof falStatus>;

const falFile = field(z.object({ url: text() }));

/** Of `GET …/requests/{id}`. */
export const falResult = z.object({ images: field(z.array(falFile)), video: falFile });

/** Of a refusal: the detail is a list if it comes from the model, a text if it comes from the platform. */
export const falRefusal = z.object({
  detail: field(z.union([z.string(), z.array(field(z.object({ msg: text(), type: text() })))])),
  error_type: text(),
});
