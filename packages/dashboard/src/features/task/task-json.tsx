import { useEffect, useState } from 'react';
import { run } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { graphql } from '../../api/graphql.ts';
import { isFinal, type TaskRow } from '../../live/task-store.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import styles from './task.module.css';

const TaskFields = graphql(`
  query TaskFields($taskId: String!) {
    task(taskId: $taskId) {
      taskId
      object
      status
      progress
      model
      kind
      createdAt
      startedAt
      completedAt
      expiresAt
      input
      metadata
      result {
        expiresAt
        outputs {
          id
          index
          type
          url
          urlExpiresAt
          contentType
          sizeBytes
          width
          height
          duration
          sha256
          seed
        }
      }
      error {
        code
        message
        param
        retryable
      }
    }
  }
`);

/** The task as the JSON of the API. */
export function TaskJson({ row }: { row: TaskRow }) {
  const [text, setText] = useState('');
  const ended = isFinal(row);
  useEffect(() => {
    run(TaskFields, { taskId: row.taskId }).then(
      ({ task }) => setText(JSON.stringify(inSnakeCase(task), null, 2)),
      (error: unknown) => setText(asCallError(error).message),
    );
  }, [row.taskId, ended]);
  return (
    <>
      <p className={styles.caption}>
        <span>As GET /v1/tasks/{row.taskId} shows it</span>
        <CopyButton text={text} />
      </p>
      <CodeBlock code={text} label="The task as JSON" />
    </>
  );
}

const OPAQUE = new Set(['input', 'metadata']);

/**
 * Renames fields and enums as in REST, and drops an `error` or `result` that is null. The user's own names inside
 * `input` and `metadata` stay.
 */
function inSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inSnakeCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, each]) => name !== '__typename' && !(each === null && (name === 'error' || name === 'result')))
      .map(([name, each]) => [
        name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        OPAQUE.has(name) ? each : enumsLow(name, inSnakeCase(each)),
      ]),
  );
}

const ENUMS = new Set(['status', 'kind', 'type', 'code']);
const enumsLow = (name: string, value: unknown): unknown =>
  ENUMS.has(name) && typeof value === 'string' ? value.toLowerCase() : value;
