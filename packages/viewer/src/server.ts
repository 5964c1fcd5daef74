import type { App } from '@modelcontextprotocol/ext-apps';
import { type Output, type Task, taskIn } from './task.ts';

/** The largest file that the server returns as a resource. */
const MAX_FILE_BYTES = 20_000_000;

export interface Answer {
  task: Task | null;
  /** Small pictures as `data:` URLs, one for each output that has a preview. */
  previews: string[];
  /** Why the call was refused; null: it was not refused. */
  refusal: string | null;
}

type Result = Awaited<ReturnType<App['callServerTool']>>;

/** Refusals after which the same call may succeed a moment later. */
const TEMPORARY = /"code":\s*"(?:rate_limit_exceeded|queue_full|service_unavailable)"/;

const textOf = ({ content: [first] }: Pick<Result, 'content'>): string => (first?.type === 'text' ? first.text : '');

export function answerOf({ structuredContent, content, isError }: Result): Answer {
  const task = taskIn(structuredContent as Record<string, unknown> | undefined);
  const previews = content.flatMap((block) =>
    block.type === 'image' ? [`data:${block.mimeType};base64,${block.data}`] : [],
  );
  return { task, previews, refusal: isError && !task ? messageIn(textOf({ content })) : null };
}

/** The message of a refusal. The tools refuse a call with the same error JSON as the REST API. */
function messageIn(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return text || 'The call failed.';
  }
}

/** @throws Error if the same call may succeed later: the call broke, or its refusal is temporary */
export async function call(app: App, name: string, given: Record<string, unknown>): Promise<Answer> {
  const result = await app.callServerTool({ name, arguments: given });
  const answer = answerOf(result);
  if (answer.refusal !== null && TEMPORARY.test(textOf(result))) throw new Error(answer.refusal);
  return answer;
}

/**
 * Finds the unfinished task of a call that is not answered yet, among the newest running and queued tasks.
 * @param matches whether a task may be the task of the call
 * @returns null if none of those tasks matches
 */
export async function findUnfinished(app: App, matches: (task: Task) => boolean): Promise<Task | null> {
  for (const status of ['running', 'queued']) {
    const { structuredContent } = await app.callServerTool({ name: 'list_tasks', arguments: { status, limit: 10 } });
    const { data = [] } = (structuredContent ?? {}) as { data?: Task[] };
    const found = data.find(matches);
    if (found) return found;
  }
  return null;
}

/** @returns the file as a `data:` URL; null if it is too large, or the host or the server does not give it */
export async function readFile(
  app: App,
  { id, size_bytes: bytes, content_type: type }: Output,
): Promise<string | null> {
  if (!app.getHostCapabilities()?.serverResources || bytes > MAX_FILE_BYTES) return null;
  try {
    const { contents } = await app.readServerResource({ uri: `darkroom://files/${id}` });
    const [file] = contents;
    return file && 'blob' in file ? `data:${type};base64,${file.blob}` : null;
  } catch {
    return null; // the preview stays
  }
}
