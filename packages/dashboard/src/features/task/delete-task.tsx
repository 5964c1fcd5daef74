import { plural } from '../../format/numbers.ts';
import type { TaskRow } from '../../live/task-store.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import type { useTaskActions } from './use-task-actions.ts';

interface Props {
  row: TaskRow;
  actions: ReturnType<typeof useTaskActions>;
  onClose(): void;
}

/** Asks before a task and its files are deleted. */
export function DeleteTask({ row, actions, onClose }: Props) {
  const files = row.outputs.length;
  return (
    <Dialog
      open
      title="Delete this task?"
      text={`The task${files > 0 ? ` and its ${plural(files, 'file')}` : ''} cannot be brought back. Links to its files end.`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button
            variant="danger"
            busy={actions.busy === 'remove' && 'Deleting…'}
            onClick={() => void actions.remove()}
          >
            Delete {files > 0 ? `task and ${plural(files, 'file')}` : 'task'}
          </Button>
        </>
      }
    />
  );
}
