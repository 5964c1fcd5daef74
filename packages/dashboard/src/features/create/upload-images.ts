import { asCallError } from '../../api/errors.ts';
import { upload, whyUnfit } from '../../api/upload.ts';
import { report } from '../../parts/toasts.ts';
import { rememberPreview } from './file-previews.ts';

/** Uploads what was dropped on the page or pasted, one after the other. @param onUploaded called with the id of each */
export async function uploadImages(files: readonly File[], onUploaded: (fileId: string) => void): Promise<void> {
  for (const file of files) {
    const unfit = whyUnfit(file);
    if (unfit) report(unfit, true);
    else await send(file, onUploaded);
  }
}

async function send(file: File, onUploaded: (fileId: string) => void): Promise<void> {
  report(`Uploading ${file.name}…`);
  try {
    const { id, url } = await upload(file, () => undefined, new AbortController().signal);
    rememberPreview(id, url);
    onUploaded(id);
  } catch (error) {
    report(asCallError(error).message, true);
  }
}
