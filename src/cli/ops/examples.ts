const TASK = 'task_01jd8e5t9kf3qs7m2v4xw6yzab';

/** One example of each sub-command of `darkroom ops`, for its --help. */
export const EXAMPLES = {
  status: 'status --json',
  processes: 'processes',
  providers: 'providers',
  keys: 'keys',
  tasks: 'tasks --state running --limit 50',
  task: `task ${TASK}`,
  pauses: 'pauses',
  webhooks: 'webhooks',
  replays: 'replays',
  'log-levels': 'log-levels',
  drain: 'drain api-1-12',
  resume: 'resume api-1-12',
  cancel: `cancel ${TASK}`,
  release: `release ${TASK}`,
  fail: `fail ${TASK} provider_unavailable`,
  pause: 'pause --model sora-2 --reason "maintenance of the provider" --until 2h',
  unpause: 'unpause pause_01jd8e5t9kf3qs7m2v4xw6yzab',
  'close-circuit': 'close-circuit 1',
  replay: 'replay --since 2h',
  'cancel-replay': 'cancel-replay replay_01jd8e5t9kf3qs7m2v4xw6yzab',
  'set-log-levels': 'set-log-levels --contexts webhooks=debug',
} as const;
