import { CallError } from './errors.ts';

export interface UploadedFile {
  id: string;
  url: string;
  content_type: string;
  bytes: number;
  width?: number;
  height?: number;
}

export const MAX_UPLOAD_BYTES = 20_000_000;
export const IMAGE_TYPES: readonly string[] = ['image/jpeg', 'image/png', 'image/webp'];

/** Why a file cannot be a reference image, in words; null: it can. The service also checks the bytes. */
export function whyUnfit(file: File): string | null {
  if (!IMAGE_TYPES.includes(file.type)) return `${file.name} is no JPEG, PNG or WebP image.`;
  if (file.size > MAX_UPLOAD_BYTES) return `${file.name} is larger than 20 MB.`;
  return null;
}

/** Sends a file with progress, which `fetch` does not report. @throws CallError */
export function upload(file: File, onProgress: (share: number) => void, signal: AbortSignal): Promise<UploadedFile> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const form = new FormData();
    form.set('purpose', 'vision');
    form.set('file', file);
    request.open('POST', '/v1/files');
    request.responseType = 'json';
    request.upload.addEventListener('progress', (event) => onProgress(event.loaded / Math.max(1, event.total)));
    request.addEventListener('error', () => reject(new CallError('The upload was interrupted.')));
    request.addEventListener('abort', () => reject(new CallError('The upload was cancelled.', { code: 'cancelled' })));
    request.addEventListener('load', () => {
      const body = request.response as (UploadedFile & { error?: { message: string; code: string } }) | null;
      if (request.status === 201 && body) resolve(body);
      else
        reject(
          new CallError(body?.error?.message ?? 'The upload was refused.', {
            code: body?.error?.code ?? 'internal_error',
          }),
        );
    });
    signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}
