import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';

/** A file that is made while it is read, so that nothing is stored twice. */
export interface GeneratedFile {
  contentType: string;
  filename: string;
  /** The purpose that OpenAI's clients know for the results of a batch. */
  purpose: 'batch_output';
  createdAt: Date;
  expiresAt: Date;
  open(): Readable;
}

/** @returns null when the API key has no such file */
type Source = (apiKeyId: string, fileId: string) => Promise<GeneratedFile | null>;

/** Files that other modules make when they are read. Each module registers the form of its ids. */
@Injectable()
export class GeneratedFiles {
  private readonly sources: { ids: RegExp; find: Source }[] = [];

  register(ids: RegExp, find: Source): void {
    this.sources.push({ ids, find });
  }

  /** @returns null when no generated file has an id of this form */
  sourceOf(fileId: string): Source | null {
    return this.sources.find(({ ids }) => ids.test(fileId))?.find ?? null;
  }
}
