import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';

const TIMEOUT_MS = 300_000;
/** The form of the service's file names. */
const NAME = /^[\w-]+\.[a-z0-9]{1,8}$/;

interface Link {
  type: 'resource_link';
  uri: string;
  name: string;
  size?: number;
}

/** Saves the outputs of tasks into a folder. */
export class SavedOutputs {
  private readonly folder: string;

  /** @param warn shows a line to the user; must not write to stdout, which carries the protocol */
  constructor(
    folder: string,
    private readonly warn: (line: string) => void,
  ) {
    this.folder = resolve(folder);
  }

  /**
   * Downloads the files that the links of a result lead to, and replaces the links by links to the saved files. A link
   * whose file was not saved stays.
   */
  async saveIn(result: Record<string, unknown>): Promise<Record<string, unknown>> {
    const content = result.content;
    if (!Array.isArray(content)) return result;
    return {
      ...result,
      content: await Promise.all(content.map((block) => (isLink(block) ? this.save(block) : block))),
    };
  }

  private async save(link: Link): Promise<Link> {
    const path = join(this.folder, link.name);
    try {
      if (!(await isThere(path, link.size))) await this.download(link.uri, path);
      return { ...link, uri: pathToFileURL(path).href };
    } catch (error) {
      this.warn(`${link.name} was not saved: ${(error as Error).message}`);
      return link;
    }
  }

  private async download(url: string, path: string): Promise<void> {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok || !response.body) throw new Error(`the service answered ${response.status}`);
    await mkdir(this.folder, { recursive: true });
    const draft = `${path}.${process.pid}.part`; // an interrupted download leaves no partial file under the final name
    try {
      await pipeline(Readable.fromWeb(response.body), createWriteStream(draft));
      await rename(draft, path);
    } finally {
      await rm(draft, { force: true });
    }
  }
}

const isLink = (block: unknown): block is Link => {
  const { type, uri, name } = block as Partial<Link>;
  return type === 'resource_link' && typeof uri === 'string' && /^https?:/.test(uri) && NAME.test(name ?? '');
};

async function isThere(path: string, size: number | undefined): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && size !== undefined && found.size === size;
}
