import { isFinal } from '../../tasks/record/task.entity.ts';
import type { TaskOutputView, TaskView } from '../../tasks/read/task.view.ts';

/** Says in words what the result says, and what to call next, because many clients show a model only the text. */
export function taskText(task: TaskView): string {
  if (!isFinal(task.status)) {
    const state = task.status === 'queued' ? 'waits to run' : `is running, ${task.progress} %`;
    return `Task ${task.task_id} ${state}. It goes on by itself. Call get_task with this task_id for its result; do not create it again.`;
  }
  return task.status === 'succeeded' ? succeeded(task) : failed(task);
}

function succeeded({ task_id: id, kind, model, result }: TaskView): string {
  const outputs = result?.outputs ?? [];
  const what = `${outputs.length} ${kind}${outputs.length === 1 ? '' : 's'}`;
  return [
    `Task ${id} succeeded: ${what} by ${model}.`,
    ...outputs.map(outputText),
    'The links work without a key for a while; get_task gives new ones. Give a file id as reference image to edit an image.',
  ].join('\n');
}

function outputText({ id, url, width, height, duration, url_expires_at: expires }: TaskOutputView): string {
  if (url === null) return `- ${id}: deleted.`;
  const length = duration === undefined ? '' : `, ${duration} s`;
  return `- ${id} (${width}x${height}${length}): ${url} (until ${new Date(expires! * 1000).toISOString()})`;
}

function failed({ task_id: id, error }: TaskView): string {
  const { code, message, retryable, param } = error!;
  const field = param === undefined ? '' : ` (${param})`;
  const advice =
    code === 'task_cancelled'
      ? ''
      : retryable
        ? ' The same request may succeed later: call retry_task.'
        : ' The same request will fail again: change it.';
  return `Task ${id} failed: ${code}${field}: ${message}${advice}`;
}

/** The maximum number of characters of a prompt in a list. */
const MAX_PROMPT = 80;

export function taskLine({ task_id: id, status, progress, model, input }: TaskView): string {
  const prompt = String(input.prompt ?? '').replaceAll(/\s+/g, ' ');
  const shown = prompt.length > MAX_PROMPT ? `${prompt.slice(0, MAX_PROMPT).toWellFormed()}…` : prompt;
  return `- ${id}: ${status}${status === 'running' ? ` ${progress} %` : ''}, ${model}: ${shown}`;
}
