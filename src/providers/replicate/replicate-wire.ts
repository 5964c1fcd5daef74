import { z } from 'zod';
import { anything, field, text } from '../wire/reply-schema.ts';

/** A prediction, as `GET /predictions/{id}` returns it. */
export const prediction = z.object({
  id: text(),
  model: text(),
  /** starting processing succeeded failed canceled aborted */
  status: text(),
  input: field(z.object({ seed: anything() })),
  /** One URL, or several. */
  output: anything(),
  error: anything(),
  logs: text(),
  /** ISO 8601. */
  created_at: text(),
  started_at: text(),
  /** True one hour after the end: input, output and logs are deleted. */
  data_removed: field(z.boolean()),
});
export type Prediction = z.infer<typeof prediction>;

/** `GET /predictions`: a hundred a page, the newest first. */
export const predictionPage = z.object({
  /** URL of the next page; null on the last. */
  next: text(),
  results: field(z.array(prediction)),
});

/** Of `POST /files`. */
export const uploadedFile = z.object({ urls: field(z.object({ get: text() })) });

/** The body of a refused call. */
export const replicateRefusal = z.object({ title: text(), detail: text() });
