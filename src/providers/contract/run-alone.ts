import type { Run } from './provider.ts';

/** A run outside a worker. It has no row of a task, so nothing is recorded. */
export const runAlone = (scratchDir: string, given: Partial<Run> = {}): Run => ({
  upstreamId: null,
  submittedBefore: false,
  scratchDir,
  signal: new AbortController().signal,
  partialImages: 0,
  progress: () => undefined,
  tokens: () => undefined,
  partialImage: () => undefined,
  assertHeld: async () => undefined,
  submitting: async () => undefined,
  callingAgain: async () => undefined,
  fewer: () => undefined,
  seeds: () => undefined,
  submitted: async () => undefined,
  resubmitting: async () => true,
  linkTo: async ({ path }) => `file://${path}`,
  releaseImages: async () => undefined,
  polling: (work) => work(),
  ...given,
});
