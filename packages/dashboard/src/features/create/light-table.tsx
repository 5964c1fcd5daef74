import {
  type ClipboardEvent,
  type DragEvent,
  lazy,
  Suspense,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { part } from '../../api/late-part.ts';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { takeTyped } from '../../keys/typed-ahead.ts';
import { report } from '../../parts/toasts.ts';
import type { Model } from './create.documents.ts';
import type { CreateSearch, May } from './create-search.ts';
import { Dock } from './dock.tsx';
import { type Draft, takeUploads } from './draft.ts';
import { type DrawerTab, saveDrawer, savedDrawer } from './drawer-tab.ts';
import { Examples } from './examples.tsx';
import { targetsOf } from './fan-out.ts';
import styles from './light-table.module.css';
import { usePastPrompts } from './past-prompts.ts';
import type { Preset } from './presets.ts';
import { currentRuns, onRuns, pressesOf, startRuns } from './runs.ts';
import { imagePlaceOf } from './image-places.ts';
import { imagesOf, missing, schemaOf, switchModel } from './schema-rules.ts';
import { Strip } from './strip.tsx';
import { onUploadCount, type UploadCount, uploadCount, asUpload } from './uploads-under-way.ts';
import { type Form, useForm } from './use-form.ts';
import { useTableActs } from './use-table-acts.ts';

const Drawer = lazy(part(() => import('./drawer.tsx').then(({ Drawer: it }) => ({ default: it }))));
const DrawerSheet = lazy(part(() => import('./drawer-sheet.tsx').then(({ DrawerSheet: it }) => ({ default: it }))));

const KeepKeys = lazy(part(() => import('../../viewer/keep-keys.tsx').then(({ KeepKeys: it }) => ({ default: it }))));
const TableViewer = lazy(part(() => import('./table-viewer.tsx').then(({ TableViewer: it }) => ({ default: it }))));

const uploads = part(() => import('./uploads.ts'));

/** Up to this width the drawer is a sheet over the page. */
const NARROW = '(max-width: 1023px)';

interface Props {
  models: readonly [Model, ...Model[]];
  start: Draft;
  search: CreateSearch;
  may: May;
  /** @param fileId the file to open in the viewer; null closes the viewer */
  onView(fileId: string | null, replace: boolean): void;
  /** Called when the form has the pictures that the address named. */
  onTaken(): void;
}

/** The screen Create: the runs of this tab, with the newest run next to the prompt, and a drawer beside the runs. */
export function LightTable({ models, start, search, may, onView, onTaken }: Props) {
  const form = useForm(models, start);
  const runs = useSyncExternalStore(onRuns, currentRuns);
  const page = useRef<HTMLDivElement>(null);
  const place = useRef<HTMLFormElement>(null);
  const table = useRef<HTMLElement>(null);
  const recalled = useRef(-1);
  const isNarrow = useSyncExternalStore(onNarrow, () => matchMedia(NARROW).matches);
  const [drawer, setDrawer] = useState<DrawerTab | null>(() => (matchMedia(NARROW).matches ? null : savedDrawer()));
  const past = usePastPrompts(runs, may.read);
  const { model, values, fan } = form;
  const schema = schemaOf(model);
  const targets = targetsOf(models, model, values, fan);
  const count = useSyncExternalStore(onUploadCount, uploadCount);
  /** Set while a press of Generate waits for uploads: the upload counts at that press. Null: no press waits. */
  const [awaited, setAwaited] = useState<UploadCount | null>(null);

  /** Focuses the field in the drawer; if it is not there, the prompt. */
  const focusField = (name: string) => {
    const field = page.current?.querySelector<HTMLElement>(
      `aside [data-field="${name}"] :is(textarea, input, select, button)`,
    );
    return field ? field.focus() : focusPrompt();
  };
  const focusPrompt = () => place.current?.querySelector<HTMLElement>('textarea[name=prompt]')?.focus();
  // A layout effect, so that it runs before the browser handles the next key. The field then has the focus and all that
  // was typed before.
  useLayoutEffect(() => {
    focusPrompt();
    const typed = takeTyped();
    if (typed) form.set('prompt', String(values.prompt ?? '') + typed);
    // No dependencies, because this runs only once, when the field first exists.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  useEffect(() => {
    if (search.ref) form.addImages(search.ref.split(','));
    if (search.ref || search.animate) onTaken(); // `useTableActs` takes `animate` in the same commit
    // No other dependencies, because a picture goes into the form only when the address names a new one.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [search.ref, search.animate]);

  /** Takes dropped or pasted images, unless a tray of images has taken them. */
  const take = (event: DragEvent | ClipboardEvent, files: FileList) => {
    if (event.defaultPrevented || files.length === 0) return;
    event.preventDefault();
    const chosen = [...files]; // the browser empties the list after the event
    if (may.create) void asUpload(async () => (await uploads()).takeImages(chosen, form.now));
  };
  const filmOf = (file: File) => void asUpload(async () => (await uploads()).takeImage(file, null));

  const show = (tab: DrawerTab | null) => {
    setDrawer(tab);
    if (!isNarrow) saveDrawer(tab);
  };
  const newest = () => requestAnimationFrame(() => table.current?.scrollTo({ top: 0 }));

  function generate() {
    if (!may.create || awaited) return;
    if (count.running > 0) setAwaited(count);
    else void send();
  }
  useEffect(() => {
    if (!awaited) return;
    const hasFailed = count.failed > awaited.failed; // the upload has reported why
    if (!hasFailed && count.running > 0) return;
    setAwaited(null);
    if (!hasFailed) void send();
    // Only a change of the uploads sends the waiting request, not a change of the form.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [awaited, count]);

  const waits = useRef(false);
  useEffect(() => void (waits.current = awaited !== null), [awaited]);
  useEffect(
    () => () => {
      if (waits.current) report('Not sent: Create was left before the upload ended.', true);
    },
    [],
  );

  /** Sends the present content of the form, because an image may have come since the last render. */
  async function send() {
    recalled.current = -1;
    const { model, values, fan, parent } = form.now();
    const lack = missing(schemaOf(model), values);
    if (lack) {
      form.setFaults({ [lack.name]: lack.text });
      return focusField(lack.name);
    }
    const requests = targetsOf(models, model, values, fan).flatMap(({ request }) =>
      Array.from({ length: fan.repeat }, () => request),
    );
    const sent = startRuns(requests, parent);
    newest();
    const [fault] = await sent;
    if (!fault?.param) return;
    if (fault.param === 'parent_task_id') return form.forgetParent();
    form.setFaults({ [fault.param]: fault.message });
    focusField(fault.param.split(/[[.]/)[0] ?? '');
  }

  const recall = (by: 1 | -1) => {
    const next = recalled.current + by;
    if (next < -1 || next >= past.length) return null;
    recalled.current = next;
    return next === -1 ? '' : (past[next]?.prompt ?? null);
  };
  const applyPreset = ({ model: id, values: kept }: Preset) => {
    const of = models.find((each) => each.id === id);
    if (!of) return report(`${id} is not a model of this instance any more.`, true);
    const carried = switchModel(values, schema, schemaOf(of), id).values;
    const images = Object.fromEntries(Object.entries(carried).filter(([, value]) => imagesOf(value).some(isOwnFile)));
    form.replace({ model: id, values: { ...kept, ...images, prompt: values.prompt ?? '' } });
  };

  useShortcuts({ 'mod+enter': generate });
  const acts = useTableActs({
    models,
    form,
    runs,
    may,
    toAnimate: search.animate,
    onFilled: focusPrompt,
    onSent: newest,
  });
  const { toFilm } = acts;
  const picture = model.kind === 'IMAGE' ? onlyPicture(form) : null;
  // A layout effect after each render, so that an upload that ends at any time finds the newest form.
  useLayoutEffect(() =>
    takeUploads(({ fileId, place: field }) => {
      if (field === null && toFilm) toFilm(fileId);
      else form.addImages([fileId], field);
    }),
  );

  const drawn = {
    models,
    form,
    targets,
    past,
    onPrompt: (prompt: string) => {
      form.set('prompt', prompt);
      focusPrompt();
    },
    onPreset: applyPreset,
  };
  return (
    <div
      ref={page}
      className={styles.page}
      data-drawer={drawer !== null && !isNarrow}
      onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={(event) => take(event, event.dataTransfer.files)}
      // Text that was copied in an office program comes with an image of the text. The image is ignored.
      onPaste={(event) => event.clipboardData.types.includes('text/plain') || take(event, event.clipboardData.files)}
    >
      <h1 className="visually-hidden">Create</h1>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolled region needs the keyboard */}
      <section ref={table} className={styles.table} aria-label="Runs of this tab" tabIndex={0}>
        {runs.length === 0 && (
          <Examples onChoose={(prompt) => (form.set('prompt', prompt), focusPrompt())} onPicture={toFilm && filmOf} />
        )}
        {pressesOf(runs).map((press) => (
          <Strip key={press[0].key} runs={press} models={models} acts={acts} />
        ))}
      </section>
      <Dock
        place={place}
        models={models}
        form={form}
        targets={targets}
        mayCreate={may.create}
        drawer={drawer}
        onDrawer={(tab) => show(drawer === tab ? null : tab)}
        onGenerate={generate}
        upload={awaited ? 'awaited' : count.running > 0 ? 'running' : null}
        onRecall={recall}
        onFilm={toFilm && picture ? () => toFilm(picture) : null}
        onPreset={applyPreset}
      />
      <Suspense>
        {drawer && !isNarrow && <Drawer tab={drawer} onClose={() => show(null)} {...drawn} />}
        {drawer && isNarrow && <DrawerSheet tab={drawer} onClose={() => show(null)} {...drawn} />}
      </Suspense>
      <Suspense>{may.create && runs.length > 0 && <KeepKeys />}</Suspense>
      <Suspense>
        {search.view && (
          <TableViewer runs={runs} fileId={search.view} acts={acts} mayKeep={may.create} onView={onView} />
        )}
      </Suspense>
    </div>
  );
}

const isOwnFile = (value: string): boolean => value.startsWith('file_');

/**
 * The id of the file that is the only reference; null if the reference is a link, or if there is none or more than one.
 */
function onlyPicture({ model, values }: Form): string | null {
  const place = imagePlaceOf(schemaOf(model), values);
  const [image, ...others] = place ? imagesOf(values[place.name]) : [];
  return image && isOwnFile(image) && others.length === 0 ? image : null;
}

function onNarrow(listener: () => void): () => void {
  const query = matchMedia(NARROW);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}
