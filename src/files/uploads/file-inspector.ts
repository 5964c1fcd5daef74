import { Injectable } from '@nestjs/common';
import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.ts';
import { isPlainJson } from '../../platform/schema/plain-json.ts';
import { inspectStillImage, NotAStillImage } from '../../platform/images/still-image.ts';
import { Turns } from '../../platform/run/turns.ts';
import type { Purpose } from '../record/upload.entity.ts';

/** 20 MB, as for images that are fetched. */
export const MAX_FILE_BYTES = 20_000_000;

/** The number of bytes of JSON lines that are parsed before other requests get their turn. */
const LINE_BYTES_AT_ONCE = 256 * 1024;

export interface Inspection {
  content_type: string;
  /** Pixels; null unless it is an image. */
  width: number | null;
  height: number | null;
  /** How many bytes are kept. Of an image, only the bytes up to its end are kept. */
  bytes: number;
}

export type Source = Buffer | { path: string; bytes: number };

/**
 * Determines the type of a file from its bytes. Scratch files are read one at a time into one buffer: 20 files of 20 MB
 * at once would otherwise take 400 MB.
 */
@Injectable()
export class FileInspector {
  private readonly turns = new Turns();
  private shared: Buffer | undefined;

  /**
   * @param owner the API key. Keys take turns, so a key with many files delays another key by one file at a time.
   * @throws ApiError invalid_image, invalid_file
   */
  async inspect(owner: string, purpose: Purpose, source: Source): Promise<Inspection> {
    const size = Buffer.isBuffer(source) ? source.length : source.bytes;
    if (size > MAX_FILE_BYTES)
      throw purpose === 'batch' ? notLines('It has more than 20 MB.') : notAnImage('too large');
    return this.turns.take(owner, NEVER, async () => {
      const bytes = Buffer.isBuffer(source) ? source : await this.read(source.path, size);
      return purpose === 'batch' ? inspectLines(bytes) : inspectImage(bytes);
    });
  }

  private async read(path: string, size: number): Promise<Buffer> {
    this.shared ??= Buffer.allocUnsafeSlow(MAX_FILE_BYTES);
    const file = await open(path);
    try {
      let read = 0;
      while (read < size) {
        const { bytesRead } = await file.read(this.shared, read, size - read, read);
        if (bytesRead === 0) break;
        read += bytesRead;
      }
      return this.shared.subarray(0, read);
    } finally {
      await file.close();
    }
  }
}

const NEVER = new AbortController().signal;

async function inspectImage(bytes: Buffer): Promise<Inspection> {
  try {
    const { contentType, width, height, length } = await inspectStillImage(bytes);
    return { content_type: contentType, width, height, bytes: length };
  } catch (error) {
    if (error instanceof NotAStillImage) throw notAnImage(error.message, error);
    throw error;
  }
}

/** JSON lines: a JSON object on each line, and at least one. Empty lines are allowed. */
async function inspectLines(bytes: Buffer): Promise<Inspection> {
  if (!isUtf8(bytes)) throw notLines('It is not valid UTF-8.');
  let objects = 0;
  let parsed = 0;
  for (let start = 0, line = 1; start < bytes.length; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    if (!isPlainJson(bytes.subarray(start, end))) throw notLines(`Line ${line} has too many levels, values or names.`);
    const text = bytes.toString('utf8', start, end).trim();
    if (text !== '') {
      if (!isObject(text)) throw notLines(`Line ${line} is not a JSON object.`);
      objects += 1;
    }
    parsed += end + 1 - start;
    start = end + 1;
    if (parsed > LINE_BYTES_AT_ONCE) {
      parsed = 0;
      await endOfTurn();
    }
  }
  if (objects === 0) throw notLines('It has no lines.');
  return { content_type: 'application/jsonl', width: null, height: null, bytes: bytes.length };
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function notAnImage(why: string, cause?: Error): ApiError {
  const message = `The file is not a still JPEG, PNG or WebP of at most 20 MB and 33.5 megapixels (${why}).`;
  return new ApiError('invalid_image', { param: 'file', message, cause });
}

function notLines(why: string): ApiError {
  const message = `A file of purpose "batch" is JSON lines in UTF-8, of at most 20 MB. ${why}`;
  return new ApiError('invalid_file', { param: 'file', message });
}
