import { mutate } from '../../api/client.ts';
import { plural } from '../../format/numbers.ts';
import { ReasonDialog } from '../../parts/reason-dialog.tsx';
import { CancelTasks, DrainProcess, ReleaseTasks, ResumeProcess } from './queue.documents.ts';

/** Whose tasks: those of a model, an API key or a process. */
export type Owner = { model: string } | { apiKeyId: string } | { workerId: string };

/** An operation on unfinished tasks of all keys, or on a process that claims tasks. */
export type QueueAct =
  { act: 'cancel' | 'release'; name: string; filter: Owner } | { act: 'drain' | 'resume'; name: string; id: string };

const WORDS = {
  cancel: {
    title: 'Cancel the unfinished tasks of',
    text: 'Their owners get task_cancelled. A call that is under way may still be paid.',
    button: 'Cancel tasks',
    busy: 'Cancelling…',
    leave: 'Let them go on',
  },
  release: {
    title: 'Release the running tasks of',
    text: 'Other processes take them over. A call that cannot be found again is not repeated: its task fails.',
    button: 'Release tasks',
    busy: 'Releasing…',
    leave: 'Leave them',
  },
  drain: {
    title: 'Drain',
    text: 'It claims no more tasks. What it runs goes on to its end.',
    button: 'Drain',
    busy: 'Draining…',
    leave: 'Leave it on',
  },
  resume: {
    title: 'Resume',
    text: 'It claims tasks again.',
    button: 'Resume',
    busy: 'Resuming…',
    leave: 'Leave it drained',
  },
};

interface Props {
  asked: QueueAct;
  onClose(): void;
}

export function ActDialog({ asked, onClose }: Props) {
  const { title, ...words } = WORDS[asked.act];
  return (
    <ReasonDialog
      {...words}
      title={`${title} ${asked.name}?`}
      onDo={(reason) => run(asked, reason)}
      onClose={onClose}
    />
  );
}

/** @returns what was done, as text */
async function run(asked: QueueAct, reason: string | undefined): Promise<string> {
  switch (asked.act) {
    case 'drain':
      await mutate(DrainProcess, { id: asked.id, reason });
      return `${asked.name} claims no more tasks.`;
    case 'resume':
      await mutate(ResumeProcess, { id: asked.id, reason });
      return `${asked.name} claims tasks again.`;
    case 'cancel': {
      const { cancelOperatorTasks } = await mutate(CancelTasks, { filter: asked.filter, reason });
      return `${plural(cancelOperatorTasks.changed, 'task')} cancelled.`;
    }
    case 'release': {
      const { releaseOperatorTasks } = await mutate(ReleaseTasks, { filter: asked.filter, reason });
      return `${plural(releaseOperatorTasks.changed, 'task')} released.`;
    }
  }
}
