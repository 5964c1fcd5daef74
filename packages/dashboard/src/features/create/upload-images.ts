import { asCallError } from '../../api/errors.ts';
import { upload, whyUnfit } from '../../api/upload.ts';
import { report, reportWhile } from '../../parts/toasts.ts';
import { rememberPreview } from './file-previews.ts';
import { imagePlaceOf, imagesOf, schemaOf } from './schema-rules.ts';
import type { Form } from './use-form.ts';

/**
 * Uploads what was dropped on the page or pasted, one after the other.
 * @param formNow reads the form after each upload: it may have changed meanwhile
 * @param add puts a file into a form
 */
export async function takeImages(
  files: readonly File[],
  formNow: () => Form,
  add: (form: Form, fileIds: readonly string[]) => void,
): Promise<void> {
  const { model, values } = formNow();
  const place = imagePlaceOf(schemaOf(model), values);
  if (!place) return report(`${model.id} takes no reference image.`, true);
  const most = place.schema.maxItems ?? 1;
  const room = place.kind === 'image' ? 1 : most - imagesOf(values[place.name]).length;
  if (files.length > room) report(`${model.id} takes at most ${most}.`, true);
  for (const file of files.slice(0, room)) await takeImage(file, (fileId) => add(formNow(), [fileId]));
}

export async function takeImage(file: File, onUploaded: (fileId: string) => void): Promise<void> {
  const unfit = whyUnfit(file);
  if (unfit) return report(unfit, true);
  const done = reportWhile(`Uploading ${file.name}…`);
  try {
    const { id, url } = await upload(file, () => undefined, new AbortController().signal);
    rememberPreview(id, url);
    onUploaded(id);
  } catch (error) {
    report(asCallError(error).message, true);
  } finally {
    done();
  }
}
