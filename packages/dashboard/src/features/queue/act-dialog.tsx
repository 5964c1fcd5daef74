import { mutate } from '../../api/client.ts';
import { plural } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { report } from '../../parts/toasts.ts';
import { useAction } from '../../parts/use-action.ts';
import { CancelTasks, ReleaseTasks } from './queue.documents.ts';

/** What is done, and to which unfinished tasks of all keys. */
export interface QueueAct {
  act: 'cancel' | 'release';
  /** `of gpt-image-2` */
  of: string;
  filter: { model: string } | { apiKeyId: string } | { workerId: string };
}

const WORDS = {
  cancel: {
    title: 'Cancel the unfinished tasks',
    text: 'Their owners get task_cancelled. A call that is under way may still be paid.',
    button: 'Cancel tasks',
    busy: 'Cancelling…',
    leave: 'Let them go on',
  },
  release: {
    title: 'Release the running tasks',
    text: 'Other processes take them over. A call that cannot be found again is not repeated: its task fails.',
    button: 'Release tasks',
    busy: 'Releasing…',
    leave: 'Leave them',
  },
};

interface Props {
  asked: QueueAct;
  onClose(): void;
}

export function ActDialog({ asked: { act: name, of, filter }, onClose }: Props) {
  const { busy, fault, act } = useAction();
  const words = WORDS[name];
  const run = () =>
    act(async () => {
      const { changed } =
        name === 'cancel'
          ? (await mutate(CancelTasks, { filter })).cancelOperatorTasks
          : (await mutate(ReleaseTasks, { filter })).releaseOperatorTasks;
      report(`${plural(changed, 'task')} ${name === 'cancel' ? 'cancelled' : 'released'}.`);
      onClose();
    });
  return (
    <Dialog
      open
      title={`${words.title} ${of}?`}
      text={words.text}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.leave}</Button>
          <Button variant="danger" busy={busy && words.busy} onClick={() => void run()}>
            {words.button}
          </Button>
        </>
      }
    >
      {fault && <p role="alert">{fault}</p>}
    </Dialog>
  );
}
