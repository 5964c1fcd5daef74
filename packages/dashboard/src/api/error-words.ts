/** What happened and what to do, for one error code of a task. */
export interface FailureWords {
  title: string;
  advice: string;
  /** Set if the same request would always fail again. */
  isFinal?: true;
}

export const FAILURES: Record<string, FailureWords> = {
  CONTENT_POLICY_VIOLATION: {
    title: 'The provider refused the content',
    advice: 'Change the prompt or the reference images. The same request is refused again.',
    isFinal: true,
  },
  INTERNAL_ERROR: {
    title: 'The service failed',
    advice: 'Run it again. If it fails again, the log of the service has the cause.',
  },
  PROVIDER_OUTCOME_UNKNOWN: {
    title: 'The provider did not say what became of the request',
    advice: 'It may have been made and charged. Check with the provider before you run it again.',
  },
  PROVIDER_QUOTA_EXCEEDED: {
    title: 'The quota at the provider is used up',
    advice: 'Raise the quota or the credit at the provider, then run it again.',
  },
  PROVIDER_NO_RESULT: {
    title: 'The provider returned no result',
    advice: 'Run it again, or change the prompt.',
  },
  PROVIDER_REJECTED: {
    title: 'The provider rejected the request',
    advice: 'Read the message, change the input and run it again.',
    isFinal: true,
  },
  PROVIDER_TIMEOUT: {
    title: 'The provider took too long',
    advice: 'Run it again. Long videos and large pictures take longer.',
  },
  PROVIDER_UNAVAILABLE: {
    title: 'No provider was available',
    advice: 'Run it again in a few minutes. Nothing was charged.',
  },
  REFERENCE_IMAGE_FETCH_FAILED: {
    title: 'A reference image could not be fetched',
    advice: 'Check its URL, or upload the image here.',
  },
  REFERENCE_IMAGE_INVALID: {
    title: 'A reference image is not usable',
    advice: 'Use a still JPEG, PNG or WebP image of at most 20 MB.',
    isFinal: true,
  },
  RESULT_STORAGE_FAILED: {
    title: 'The result could not be stored',
    advice: 'Check the storage of the instance, then run it again.',
  },
  TASK_CANCELLED: { title: 'Cancelled', advice: 'The task was cancelled before it ended.' },
  TASK_DEADLINE_EXCEEDED: {
    title: 'The task reached its deadline',
    advice: 'It waited or ran for too long. Run it again when less is queued.',
  },
  WORKER_LOST: {
    title: 'The worker stopped in the middle',
    advice: 'Run it again. The request may have reached the provider.',
  },
};

const UNKNOWN: FailureWords = {
  title: 'The task failed',
  advice: 'Read the message, then decide whether to run it again.',
};

export const failureWords = (code: string): FailureWords => FAILURES[code] ?? UNKNOWN;

/** Whether the same request may succeed when it runs again. After an error with `isFinal` it cannot. */
export const mayRunAgain = ({ error }: { error: { code: string } | null }): boolean =>
  !error || !failureWords(error.code).isFinal;
