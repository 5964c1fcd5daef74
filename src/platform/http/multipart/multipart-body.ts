import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { ApiError } from '../../../errors/api-error.ts';
import type { ErrorCode } from '../../../errors/catalog.ts';
import type { UploadLimits } from '../limits.ts';
import { type ScratchFile, writeScratchFile } from './scratch-file.ts';
import { Upload } from './upload.ts';
import type { UploadRoom } from './upload-room.ts';
import { bodyOf } from '../request.ts';

/** A file of a form. Name and type are as the client sent them. */
export interface FormFile extends ScratchFile {
  field: string;
  filename: string | null;
  contentType: string;
}

/** A form whose files are on disk. */
export interface Form {
  /** Name and text, in the order of the form. */
  fields: [name: string, text: string][];
  /** In the order of the form. */
  files: FormFile[];
  /** Deletes the files. Call this when they are stored or no longer needed. */
  dispose(): Promise<void>;
}

interface ReadOptions {
  /** The API key that uploads. */
  owner: string;
  /** The field of the file, if the form may have only one file. A second file is refused before its bytes are read. */
  only?: string;
  /** The error code for a file that is too large. It may depend on the fields before this file. */
  tooLarge?: (fields: Form['fields']) => ErrorCode;
}

/** Maximum number of header lines of one part. Two are usual. */
const PART_HEADERS = 16;
const PART_HEADER_BYTES = 8 * 1024;

/** A body of type multipart/form-data that has not been read yet. */
export class MultipartBody {
  /** Throws if the client may no longer send this form. */
  private check: () => unknown = () => undefined;

  constructor(
    private readonly raw: IncomingMessage,
    private readonly limits: UploadLimits,
    private readonly room: UploadRoom,
  ) {}

  /** @param check runs when the form has arrived, perhaps minutes after the headers; its error refuses the form */
  checkOnArrival(check: () => unknown): void {
    this.check = check;
  }

  /**
   * Reads the form. Files go to disk as they arrive and are hashed on the way; the client waits while the disk is busy.
   * @throws ApiError invalid_multipart, invalid_unicode, too_many_items, payload_too_large, request_timeout,
   *   rate_limit_exceeded, service_unavailable or bad_request, and what `checkOnArrival` throws. Then nothing is left
   *   on disk.
   */
  async read({ owner, only, tooLarge = () => 'invalid_multipart' }: ReadOptions): Promise<Form> {
    if (Number(this.raw.headers['content-length'] ?? 0) > this.limits.formBytes) throw tooLargeForm(this.limits);
    const upload = new Upload(this.raw, this.limits, this.room, owner);
    const writes: Promise<void>[] = [];
    const form: Pick<Form, 'fields' | 'files'> = { fields: [], files: [] };
    try {
      const parser = this.parser(only === undefined ? this.limits.files : 1);
      parser.on('error', (cause) => upload.fail(malformed(`${(cause as Error).message}.`)));
      parser.on('partsLimit', () => upload.fail(malformed(`A form has at most ${this.limits.parts} parts.`)));
      parser.on('filesLimit', () => upload.fail(tooManyFiles(only, this.limits)));
      parser.on('field', (name: string | undefined, text, _nameTruncated, isTruncated) => {
        try {
          form.fields.push(this.checkedField(name, text, isTruncated));
        } catch (error) {
          upload.fail(error as Error);
        }
      });
      parser.on('file', (...[name, stream, fileName, _encoding, contentType]) => {
        const field = name as string | undefined; // the parser may pass undefined, unlike its types
        const filename = fileName as string | undefined;
        const at = writes.length;
        stream.on('error', () => undefined); // a form that breaks off is also an error of the parser
        const save = async () => {
          if (field === undefined) throw malformed('A part has no name.');
          checkText(field, field);
          checkText(filename ?? '', field);
          const target = { path: join(upload.folder, String(at)), ...upload.target };
          const file = await writeScratchFile(stream, target, (bytes) => {
            if (bytes > this.limits.fileBytes) throw tooLargeFile(tooLarge(form.fields), field, this.limits);
          });
          form.files[at] = { field, filename: filename ?? null, contentType, ...file };
        };
        writes.push(save().catch((error: unknown) => upload.fail(error as Error)));
      });
      await feed(parser, upload);
      await Promise.all(writes);
      upload.signal.throwIfAborted();
      await this.check();
      return { ...form, dispose: () => upload.dispose() };
    } catch (error) {
      upload.fail(error as Error); // stops the writers
      await Promise.all(writes);
      await upload.dispose();
      throw upload.signal.reason;
    }
  }

  private parser(files: number): BusboyInstance {
    const { parts, textBytes } = this.limits;
    try {
      return new Busboy({
        headers: { 'content-type': this.raw.headers['content-type']! },
        limits: {
          files,
          parts,
          fieldSize: textBytes,
          headerPairs: PART_HEADERS,
          headerSize: PART_HEADER_BYTES,
        },
      });
    } catch (cause) {
      throw malformed('The content type has no boundary.', cause);
    }
  }

  private checkedField(name: string | undefined, text: string, isTruncated: boolean): [string, string] {
    if (name === undefined) throw malformed('A part has no name.');
    checkText(name, name);
    if (isTruncated) throw malformed(`${name} is longer than ${this.limits.textBytes} bytes.`);
    checkText(text, name);
    return [name, text];
  }
}

/** Passes the body to the parser, and pauses the body while the parser is full. Rejects when the upload fails. */
async function feed(parser: BusboyInstance, upload: Upload): Promise<void> {
  const { limits, signal } = upload;
  const body = bodyOf(upload.raw);
  let bytes = 0;
  const onData = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limits.formBytes) upload.fail(tooLargeForm(limits));
    else if (!parser.write(chunk)) body.pause();
  };
  const onDrain = () => body.resume();
  const onEnd = () => parser.end();
  parser.on('drain', onDrain);
  body.on('data', onData).on('end', onEnd);
  try {
    await finished(parser, { signal });
  } finally {
    parser.off('drain', onDrain);
    body.off('data', onData).off('end', onEnd);
  }
}

/** Refuses NUL, which PostgreSQL cannot store. The parser has already replaced bytes that are not UTF-8. */
function checkText(text: string, param: string): void {
  if (text.includes('\0')) throw new ApiError('invalid_unicode', { param: param.replaceAll('\0', '') });
}

function malformed(message: string, cause?: unknown): ApiError {
  return new ApiError('invalid_multipart', { message, cause });
}

function tooManyFiles(only: string | undefined, { files }: UploadLimits): ApiError {
  if (only === undefined) return malformed(`A form has at most ${files} files.`);
  return new ApiError('too_many_items', { param: only, message: 'One request takes one file.' });
}

function tooLargeFile(code: ErrorCode, param: string, { fileBytes }: UploadLimits): ApiError {
  return new ApiError(code, { param, message: `A file has at most ${fileBytes / 1_000_000} MB.` });
}

function tooLargeForm({ formBytes }: UploadLimits): ApiError {
  return new ApiError('payload_too_large', { message: `A form has at most ${formBytes / 1024 / 1024} MiB.` });
}
