import { useEffect, useRef, useState } from 'react';
import { asCallError } from '../../api/errors.ts';
import { upload, whyUnfit } from '../../api/upload.ts';
import { rememberPreview } from './file-previews.ts';

export interface Upload {
  key: number;
  file: File;
  /** 0 to 1 */
  share: number;
  fault: string | null;
  cancel(): void;
}

let nextKey = 1;

export function useUploads(onUploaded: (fileId: string) => void) {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const uploaded = useRef(onUploaded);
  useEffect(() => {
    uploaded.current = onUploaded;
  });

  const edit = (key: number, change: Partial<Upload>) =>
    setUploads((before) => before.map((each) => (each.key === key ? { ...each, ...change } : each)));
  const drop = (key: number) => setUploads((before) => before.filter((each) => each.key !== key));

  function take(files: readonly File[]): void {
    for (const file of files) void start(file);
  }

  async function start(file: File): Promise<void> {
    const key = nextKey++;
    const abort = new AbortController();
    const cancel = () => {
      abort.abort();
      drop(key);
    };
    setUploads((before) => [...before, { key, file, share: 0, fault: whyUnfit(file), cancel }]);
    if (whyUnfit(file)) return;
    try {
      const { id, url } = await upload(file, (share) => edit(key, { share }), abort.signal);
      rememberPreview(id, url);
      drop(key);
      uploaded.current(id);
    } catch (error) {
      edit(key, { fault: asCallError(error).message });
    }
  }

  return { uploads, take };
}
