import { constants, realpathSync } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { imageFormat } from '../../platform/images/image-structure.ts';

/** The maximum size of an image in bytes. The service accepts no larger one. */
const MAX_BYTES = 20_000_000;
/** Bytes read first: enough to recognise the format. */
const HEAD_BYTES = 12;
/** Without O_NONBLOCK, opening a pipe would wait for its other end. Windows has neither O_NONBLOCK nor O_NOFOLLOW. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

interface FoundImage {
  path: string;
  name: string;
  bytes: Buffer<ArrayBuffer>;
}

class TooLarge extends Error {}

/**
 * The working folder; no folder if that is the home folder or contains it. Many programs start a bridge in / or in the
 * home folder, below which are all files of the user.
 */
export function defaultFolders(folder: string, home = homedir()): string[] {
  return [home, realOf(home)].some((path) => isWithin(path, folder)) ? [] : [folder];
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // the path does not exist
  }
}

/**
 * The folders of this machine that images are read from. A text that an agent has read may make the agent name any
 * path. So no file outside of these folders is opened, and no answer tells whether it exists.
 */
export class ImageFolders {
  private readonly folders: readonly string[];

  constructor(folders: readonly string[]) {
    this.folders = folders.map((folder) => resolve(folder));
  }

  /**
   * @throws Error that says which paths are allowed. The message is the same whether the file is missing, not allowed
   *   or no image. Another error says that an image is too large
   */
  async read(named: string): Promise<FoundImage> {
    const image = await this.find(named).catch((error: unknown) => {
      if (error instanceof TooLarge) throw error;
      return null;
    });
    if (!image) throw new Error(this.refusal());
    return image;
  }

  private async find(named: string): Promise<FoundImage | null> {
    const path = named.startsWith('file:') ? fileURLToPath(named) : resolve(named);
    const real = await Promise.all(this.folders.map((folder) => realpath(folder).catch(() => folder)));
    // The name is checked before the disk is: on Windows even a look at \\host\share sends a password hash to that
    // host.
    if (![...this.folders, ...real].some((folder) => isWithin(path, folder))) return null;
    const target = await realpath(path);
    if (!real.some((folder) => isWithin(target, folder))) return null; // a link that leads out of the folders
    const file = await open(target, FLAGS);
    try {
      const found = await file.stat();
      if (!found.isFile()) return null; // reading from a device or a pipe may never end
      const { buffer: head } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      if (imageFormat(head) === null) return null;
      if (found.size > MAX_BYTES) throw new TooLarge(`The image has more than ${MAX_BYTES} bytes.`);
      return { path: target, name: basename(path), bytes: await file.readFile() };
    } finally {
      await file.close();
    }
  }

  private refusal(): string {
    if (this.folders.length === 0)
      return 'Paths are not taken: `npx darkroom mcp` was started without --images <folder>.';
    return `It must be the path of a JPEG, PNG or WebP file below ${this.folders.join(' or ')}, an https link or the id of a file.`;
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
