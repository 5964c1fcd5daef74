import { z } from 'zod';
import { anything, field, text } from '../wire/reply-schema.ts';

/** A prediction, as `GET /predictions/{id}` returns it. */
export const prediction = z.object({
  id: text(),
  model: text(),
  /** `starting`, `processing`, `succeeded`, `failed`, `canceled` or `aborted`. */
  status: text(),
  input: field(z.object({ seed: anything() })),
  /** One URL, or several. */
  output: anything(),
  error: anything(),
  logs: text(),
  /** ISO 8601. */
  created_at: text(),
  started_at: text(),
  /** true from one hour after the end: input, output and logs are then deleted. */
  data_removed: field(z.boolean()),
});
export type Prediction = z.infer<typeof prediction>;

/** The answer of `GET /predictions`: a page of a hundred, the newest first. */
export const predictionPage = z.object({
  /** The URL of the next page; null on the last page. */
  next: text(),
  results: field(z.array(prediction)),
});

/** The answer of `POST /files`. */
export const uploadedFile = z.object({ urls: field(z.object({ get: text() })) });

/** The body of a refused call. */
export const replicateRefusal = z.object({ title: text(), detail: text() });
