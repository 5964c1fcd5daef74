/** The chapters of the reference, in the order of use. A test finds routes that are in none of them. */
export const TAGS: readonly (readonly [name: string, description: string])[] = [
  ['Generations', 'Turn a prompt into images or a video. The answer is a task.'],
  ['Tasks', 'Read, follow, cancel, retry and delete tasks.'],
  ['Models', 'What can be made, and with which parameters.'],
  ['Files', 'Upload images to start from; read the bytes of uploads and of outputs.'],
  ['Batches', 'Create many generations at once, and read their results.'],
  ['Usage', 'What tasks used and cost.'],
  ['Webhooks', 'Receive signed events when tasks end.'],
  ['API keys', 'Create, limit, rotate and revoke keys.'],
  ['Sessions', 'Sign a browser in with a key, and out.'],
  ['OpenAI-compatible', 'The image and video routes of OpenAI, for clients that are built for them.'],
  ['Operations', 'See and steer the whole service: processes, providers, pauses, tasks of all keys.'],
  ['Health', 'For load balancers, orchestrators and Prometheus.'],
];
