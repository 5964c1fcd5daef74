import { useEffect, useSyncExternalStore } from 'react';
import { asCallError } from '../../api/errors.ts';
import { keyNow, onOtherKey } from '../../api/session.ts';
import { upload, whyUnfit } from '../../api/upload.ts';
import { report, reportWhile } from '../../parts/toasts.ts';
import { createStore } from '../../store.ts';
import { handOver, type Uploaded } from './draft.ts';
import { rememberPreview } from './file-previews.ts';
import { imagePlaceOf } from './image-places.ts';
import { imagesOf, schemaOf } from './schema-rules.ts';
import { asUpload } from './uploads-under-way.ts';
import type { Content } from './use-form.ts';

/** An upload that is under way or has failed. It goes on while the user opens another page. */
export interface Upload {
  key: number;
  place: Uploaded['place'];
  file: File;
  /** The part of the file that was sent, 0 to 1. */
  share: number;
  fault: string | null;
  cancel(): void;
}

const uploads = createStore<readonly Upload[]>([]);
let nextKey = 1;
/**
 * The image trays on the screen, by their fields. An upload for a field without a tray shows its progress as a toast.
 */
const trays = new Set<{ place: string }>();
const isSeen = (place: Uploaded['place']): boolean => [...trays].some((each) => each.place === place);
/** Functions that remove the toasts of uploads, by the keys of the uploads. */
const reported = new Map<number, () => void>();

/** Registers a tray for a field, and returns the uploads for that field. */
export function useUploads(place: string): readonly Upload[] {
  useEffect(() => {
    const tray = { place };
    trays.add(tray);
    return () => {
      trays.delete(tray);
      reportUnseen();
    };
  }, [place]);
  return useSyncExternalStore(uploads.subscribe, uploads.get).filter((each) => each.place === place);
}

const edit = (key: number, change: Partial<Upload>): void =>
  uploads.set(uploads.get().map((each) => (each.key === key ? { ...each, ...change } : each)));
const drop = (key: number): void => uploads.set(uploads.get().filter((each) => each.key !== key));

function reportUnseen(): void {
  for (const { key, place, file, fault } of uploads.get()) {
    if (fault === null && !isSeen(place) && !reported.has(key))
      reported.set(key, reportWhile(`Uploading ${file.name}…`));
  }
}

/**
 * Uploads images that were dropped on the page or pasted, one after the other.
 * @param formNow returns the form as it is when called
 * @returns false if the model takes no image, or if another API key has signed in meanwhile
 */
export async function takeImages(files: readonly File[], formNow: () => Content): Promise<boolean> {
  const { model, values } = formNow();
  const place = imagePlaceOf(schemaOf(model), values);
  if (!place) {
    report(`${model.id} takes no reference image.`, true);
    return false;
  }
  const most = place.schema.maxItems ?? 1;
  const room = place.kind === 'image' ? 1 : most - imagesOf(values[place.name]).length;
  const taken = withinRoom(files, room);
  if (taken.length < files.length) report(`${model.id} takes at most ${most}.`, true);
  const startedBy = keyNow();
  for (const file of taken) if (keyNow() === startedBy) await takeImage(file, place.name);
  return keyNow() === startedBy; // true even after a failed upload, because that upload has counted its failure
}

/**
 * As many usable images as there is room for, and all unusable files, because `takeImage` reports each by its name.
 */
export function withinRoom(files: readonly File[], room: number): readonly File[] {
  const beyond = new Set(files.filter((file) => whyUnfit(file) === null).slice(Math.max(0, room)));
  return files.filter((file) => !beyond.has(file));
}

/** Uploads an image and puts it into the form. Resolves to whether it arrived there. */
export const takeImage = (file: File, place: Uploaded['place']): Promise<boolean> => asUpload(() => send(file, place));

async function send(file: File, place: Uploaded['place']): Promise<boolean> {
  const key = nextKey++;
  const abort = new AbortController();
  const cancel = () => {
    abort.abort();
    drop(key);
  };
  const unfit = whyUnfit(file);
  if (unfit !== null && !isSeen(place)) report(unfit, true);
  else uploads.set([...uploads.get(), { key, place, file, share: 0, fault: unfit, cancel }]);
  if (unfit !== null) return false;
  reportUnseen();
  addEventListener('beforeunload', hold);
  try {
    const { id, url } = await upload(file, (share) => edit(key, { share }), abort.signal);
    rememberPreview(id, url);
    drop(key);
    handOver({ fileId: id, place });
    return true;
  } catch (error) {
    const fault = `${file.name}: ${asCallError(error).message}`;
    if (isSeen(place)) edit(key, { fault });
    else if (!abort.signal.aborted) {
      drop(key);
      report(fault, true);
    }
    return false;
  } finally {
    reported.get(key)?.();
    reported.delete(key);
    if (uploads.get().every(({ fault }) => fault !== null)) removeEventListener('beforeunload', hold);
  }
}

/** Makes the browser ask before the user leaves the page, because leaving ends the uploads. */
const hold = (event: BeforeUnloadEvent): void => event.preventDefault();

/** An image of one API key must not get into the form of another. */
onOtherKey(() => {
  for (const { cancel } of uploads.get()) cancel();
});
