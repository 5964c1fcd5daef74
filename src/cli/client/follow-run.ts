import type { Run } from '@darkroom/client';
import type { FinishedTask } from '@darkroom/client';
import { openBrowser } from '../terminal/open-browser.ts';
import { ProgressLine } from '../terminal/progress-line.ts';
import { saveOutputs } from './save-outputs.ts';

export interface FollowOptions {
  out: string;
  json?: true;
  open?: true;
  timeoutMs?: number;
}

/**
 * Follows a task to its end and saves its outputs. The id and the progress go to stderr; the paths, or the task as
 * JSON, to stdout.
 * @throws TaskFailedError when the task does not succeed, WaitTimeoutError when it takes longer than `timeoutMs`
 */
export async function followRun(run: Run, { out, json, open, timeoutMs }: FollowOptions): Promise<void> {
  console.error(run.id);
  const line = new ProgressLine();
  let task: FinishedTask;
  try {
    task = await run.wait({
      onProgress: (percent, { status }) => line.update(status, percent),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  } finally {
    line.end();
    if (json && run.task) console.log(JSON.stringify(run.task, null, 2));
  }
  const paths = await saveOutputs(task, out);
  if (!json) for (const path of paths) console.log(path);
  if (open) for (const path of paths) openBrowser(path);
}
