import { useCallback, useEffect, useState } from 'react';
import { run } from '../../api/client.ts';
import { useQuery } from '../../live/use-query.ts';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type Model, Models, TaskInput } from './create.documents.ts';
import type { CreateSearch, May } from './create-search.ts';
import { type Draft, draftInFragment, savedDraft } from './draft.ts';
import { LightTable } from './light-table.tsx';
import type { Values } from './schema-rules.ts';

/** The pause between reads of the models. */
const MODELS_MS = 60_000;

interface Props {
  search: CreateSearch;
  may: May;
  onView(fileId: string | null, replace: boolean): void;
  /** Called when the form and its draft have the picture that the address named. The address may then drop it. */
  onTaken(): void;
}

/** The screen Create: describe a picture, generate it and watch it. */
export function CreatePage(props: Props) {
  // Models may be declared while the page is open.
  const { data, error, reload } = useQuery(Models, {}, { everyMs: MODELS_MS });
  const { from } = props.search;
  // A task in the address begins a new form. Its later removal from the address does not.
  const [begun, setBegun] = useState({ from, times: 0 });
  if (from !== begun.from) setBegun({ from, times: begun.times + (from ? 1 : 0) });

  if (error && !data) {
    return (
      <Page title="Create">
        <ErrorPanel error={error} onRetry={() => void reload()} />
      </Page>
    );
  }
  return <Begun key={begun.times} models={data?.models ?? []} {...props} />;
}

/**
 * The form starts from the task in the address, else from the form in the fragment, else from the draft of this tab,
 * else empty.
 */
function Begun({ models: [first, ...rest], search, ...others }: Props & { models: readonly Model[] }) {
  const [start, setStart] = useState<Draft | null>(() =>
    search.from ? null : (draftInFragment(location.hash) ?? savedDraft() ?? { model: search.model ?? '', values: {} }),
  );
  const read = useCallback(async (taskId: string) => {
    const { task } = await run(TaskInput, { taskId });
    setStart({ model: task.model, parent: taskId, values: { ...(task.input as Values), metadata: task.metadata } });
  }, []);
  useEffect(() => {
    if (search.from) read(search.from).catch(() => setStart(savedDraft() ?? { model: '', values: {} }));
  }, [search.from, read]);

  if (!first || !start) {
    return (
      <Page title="Create">
        <Skeleton height={480} width={440} />
      </Page>
    );
  }
  const models: [Model, ...Model[]] = [first, ...rest];
  const draft = search.model ? { ...start, model: search.model } : start;
  return <LightTable models={models} start={draft} search={search} {...others} />;
}
