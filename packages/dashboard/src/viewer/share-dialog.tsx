import { Link2 } from 'lucide-react';
import { useState } from 'react';
import { mutate } from '../api/client.ts';
import { plural } from '../format/numbers.ts';
import { dateOf, day, endOfDay } from '../format/time.ts';
import { nowS } from '../format/clock.ts';
import { taskRow } from '../live/task-store.ts';
import { useQuery } from '../live/use-query.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { copyText } from '../parts/copy-text.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { TextInput } from '../parts/text-input.tsx';
import { report } from '../parts/toasts.ts';
import { useAction } from '../parts/use-action.ts';
import { outputNow } from './keep.ts';
import { ShareList } from './share-list.tsx';
import { CreateShare, Shares } from './shares.documents.ts';
import type { Listed } from './use-output.ts';

const DAY_S = 86_400;
const DEFAULT_DAYS = 7;
/** Less than the service's limit of 365 days, because a share lasts to the end of its last day. */
const MAX_DAYS = 364;

interface Props {
  files: readonly Listed[];
  onClose(): void;
}

/** Creates a share: a web page on which people without a key see the files. The dialog also lists and ends shares. */
export function ShareDialog({ files, onClose }: Props) {
  const [until, setUntil] = useState(() => dateOf(nowS() + DEFAULT_DAYS * DAY_S));
  const [showPrompt, setShowPrompt] = useState(false);
  const { data, error, reload } = useQuery(Shares, {});
  const { busy, fault, act } = useAction();
  const end = until === '' ? null : endOfDay(until);
  const gone = files.filter((file) => {
    const { kept = file.output.kept } = outputNow(file) ?? {};
    const filesUntil = taskRow(file.taskId)?.filesUntil ?? file.filesUntil;
    return !kept && filesUntil > 0 && end !== null && filesUntil < end;
  });
  const share = () =>
    act(async () => {
      if (end === null) return;
      const fileIds = files.map(({ output }) => output.id);
      const { createShare } = await mutate(CreateShare, { input: { fileIds, expiresAt: end, showPrompt } });
      await reload();
      const isCopied = await copyText(createShare.url).then(
        () => true,
        () => false,
      );
      const left = gone.length > 0 ? ', what is not deleted before' : '';
      const seen = `Whoever has it sees ${files.length === 1 ? 'the file' : 'the files'} until the end of ${day(end - 1)}${left}.`;
      report(isCopied ? `The link is copied. ${seen}` : `Shared: copy the link from the list. ${seen}`);
    });
  return (
    <Dialog
      open
      title={files.length === 1 ? 'Share' : `Share ${plural(files.length, 'file')}`}
      text="A page that everyone with its link can open, without a key, until its end."
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button variant="primary" busy={busy && 'Sharing…'} disabled={end === null} onClick={() => void share()}>
            <Link2 aria-hidden /> Share and copy the link
          </Button>
        </>
      }
    >
      <Field
        label="Until the end of"
        hint={
          gone.length > 0 &&
          `${files.length === 1 ? 'The file is' : `${gone.length} of them are`} deleted before. Keep ${files.length === 1 ? 'it' : 'them'} to show ${files.length === 1 ? 'it' : 'them'} until then.`
        }
      >
        {(ids) => (
          <TextInput
            {...ids}
            type="date"
            min={dateOf(nowS())}
            max={dateOf(nowS() + MAX_DAYS * DAY_S)}
            value={until}
            onChange={(event) => setUntil(event.target.value)}
          />
        )}
      </Field>
      <Checkbox checked={showPrompt} onChange={(event) => setShowPrompt(event.target.checked)}>
        Show the prompt
      </Checkbox>
      {fault && <p role="alert">{fault}</p>}
      {error && <p role="alert">What is shared could not be read. {error.message}</p>}
      {data && data.shares.edges.length > 0 && (
        <ShareList
          shares={data.shares.edges.map(({ node }) => node)}
          hasMore={data.shares.pageInfo.hasNextPage}
          onEnded={() => void reload()}
        />
      )}
    </Dialog>
  );
}
