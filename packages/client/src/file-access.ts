/** The file system, where there is one: node.ts brings it. Browsers and Workers go without. */
export interface FileAccess {
  read(path: string): Promise<File>;
  /** Writes a whole file or none, and compares its hash. */
  write(path: string, bytes: ReadableStream<Uint8Array>, sha256: string): Promise<void>;
}

let access: FileAccess | null = null;

export function useFileAccess(given: FileAccess): void {
  access = given;
}

/** @throws Error where there are no files */
export function fileAccess(): FileAccess {
  if (!access) throw new Error('There are no files here: pass a Blob, or read .blob(), .bytes() or .stream().');
  return access;
}
