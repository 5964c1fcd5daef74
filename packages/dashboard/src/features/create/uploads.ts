import { useSyncExternalStore } from 'react';
import { asCallError } from '../../api/errors.ts';
import { upload, whyUnfit } from '../../api/upload.ts';
import { report, reportWhile } from '../../parts/toasts.ts';
import { handOver, type Uploaded } from './draft.ts';
import { rememberPreview } from './file-previews.ts';
import { imagePlaceOf, imagesOf, schemaOf } from './schema-rules.ts';
import type { Form } from './use-form.ts';

/** An image on its way. It goes on whatever page is opened meanwhile. */
export interface Upload {
  key: number;
  place: Uploaded['place'];
  file: File;
  /** 0 to 1 */
  share: number;
  fault: string | null;
  cancel(): void;
}

let uploads: readonly Upload[] = [];
let nextKey = 1;
/** Trays on the screen. Without one, reports say how the uploads are doing. */
const listeners = new Set<() => void>();
/** Ends of such reports, by the keys of their uploads. */
const reported = new Map<number, () => void>();

/** Those of a field. */
export const useUploads = (place: string): readonly Upload[] =>
  useSyncExternalStore(onUploads, () => uploads).filter((each) => each.place === place);

function onUploads(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    reportUnseen();
  };
}

function set(next: readonly Upload[]): void {
  uploads = next;
  for (const listener of listeners) listener();
}

const edit = (key: number, change: Partial<Upload>): void =>
  set(uploads.map((each) => (each.key === key ? { ...each, ...change } : each)));
const drop = (key: number): void => set(uploads.filter((each) => each.key !== key));

function reportUnseen(): void {
  if (listeners.size > 0) return;
  for (const { key, file, fault } of uploads) {
    if (fault === null && !reported.has(key)) reported.set(key, reportWhile(`Uploading ${file.name}…`));
  }
}

/**
 * Uploads what was dropped on the page or pasted, one after the other.
 * @param formNow the form as it is then
 */
export async function takeImages(files: readonly File[], formNow: () => Form): Promise<void> {
  const { model, values } = formNow();
  const place = imagePlaceOf(schemaOf(model), values);
  if (!place) return report(`${model.id} takes no reference image.`, true);
  const most = place.schema.maxItems ?? 1;
  const room = place.kind === 'image' ? 1 : most - imagesOf(values[place.name]).length;
  if (files.length > room) report(`${model.id} takes at most ${most}.`, true);
  for (const file of files.slice(0, room)) await takeImage(file, place.name);
}

/** Uploads an image and hands it over to the form. */
export async function takeImage(file: File, place: Uploaded['place']): Promise<void> {
  const key = nextKey++;
  const abort = new AbortController();
  const cancel = () => {
    abort.abort();
    drop(key);
  };
  const unfit = whyUnfit(file);
  if (unfit !== null && listeners.size === 0) return report(unfit, true);
  set([...uploads, { key, place, file, share: 0, fault: unfit, cancel }]);
  if (unfit !== null) return;
  reportUnseen();
  addEventListener('beforeunload', hold);
  try {
    const { id, url } = await upload(file, (share) => edit(key, { share }), abort.signal);
    rememberPreview(id, url);
    drop(key);
    handOver({ fileId: id, place });
  } catch (error) {
    const { message } = asCallError(error);
    if (listeners.size > 0) edit(key, { fault: message });
    else if (!abort.signal.aborted) {
      drop(key);
      report(`${file.name}: ${message}`, true);
    }
  } finally {
    reported.get(key)?.();
    reported.delete(key);
    if (uploads.every(({ fault }) => fault !== null)) removeEventListener('beforeunload', hold);
  }
}

/** The browser asks before it leaves the app, which would end the upload. */
const hold = (event: BeforeUnloadEvent): void => event.preventDefault();
