/** Access to the file system. node.ts registers it with `useFileAccess`; browsers and Workers have none. */
export interface FileAccess {
  read(path: string): Promise<File>;
  /** Writes the whole file or nothing. @throws Error if the hash of the bytes is not `sha256` */
  write(path: string, bytes: ReadableStream<Uint8Array>, sha256: string): Promise<void>;
}

let access: FileAccess | null = null;

export function useFileAccess(given: FileAccess): void {
  access = given;
}

/** @throws Error where there is no file system */
export function fileAccess(): FileAccess {
  if (!access) throw new Error('There are no files here: pass a Blob, or read .blob(), .bytes() or .stream().');
  return access;
}
