import { failureWords } from '../api/error-words.ts';
import { onOtherKey } from '../api/session.ts';
import { createStore } from '../store.ts';
import { onTask, taskRow, type TaskNow, type TaskRow } from './task-store.ts';

/** Screen readers get at most one announcement within this time. */
const QUIET_MS = 5_000;
const STEPS = [25, 50, 75];

/** The text of the polite live region of the page. */
const text = createStore('');
export const { get: announcement, subscribe: onAnnouncement } = text;
let spokenAt = -QUIET_MS;
let timer: ReturnType<typeof setTimeout> | null = null;
/** The newest sentence about each task that is still to be spoken. An older one is no longer true. */
const waiting = new Map<string, string>();
/** What one API key has made is not announced to another. */
onOtherKey(() => {
  waiting.clear();
  text.set('');
});

/** Announces a task's changes of status, and 25, 50 and 75 % of its progress, until the returned function is called. */
export function announceTask(taskId: string): () => void {
  let last = stageOf(taskRow(taskId));
  return onTask(taskId, () => {
    const row = taskRow(taskId);
    const stage = stageOf(row);
    if (!row || stage === last) return;
    const isChange = last !== null;
    last = stage;
    if (isChange) say(taskId, sentence(row));
  });
}

/** A text that changes only when there is something to announce. */
function stageOf(row: TaskNow): string | null {
  if (!row) return null;
  const step = row.status === 'RUNNING' ? STEPS.findLast((each) => row.progress >= each) : undefined;
  return `${row.status} ${step ?? ''}`;
}

function sentence(row: TaskRow): string {
  const what = row.prompt.slice(0, 60);
  if (row.status === 'RUNNING') return `${row.progress} percent: ${what}`;
  if (row.status === 'FAILED') return `${failureWords(row.error?.code ?? '').title}: ${what}`;
  return `${row.status === 'QUEUED' ? 'Queued' : 'Succeeded'}: ${what}`;
}

function say(taskId: string, words: string): void {
  waiting.delete(taskId);
  waiting.set(taskId, words);
  timer ??= setTimeout(speak, Math.max(0, spokenAt + QUIET_MS - performance.now()));
}

function speak(): void {
  timer = null;
  text.set([...waiting.values()].join('. '));
  waiting.clear();
  spokenAt = performance.now();
}
