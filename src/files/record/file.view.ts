import { ObjectType } from '@nestjs/graphql';
import { NodeView } from '../../platform/graphql/node.view.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import type { FileLinks } from '../../tasks/read/file-links.ts';
import { isKept } from '../../tasks/record/stars.ts';
import type { OutputFile } from '../../tasks/read/task-files.ts';
import { FILE_STATUSES, type FileStatus, PURPOSES, type Purpose, type Upload } from './upload.entity.ts';

export const PurposeChoice = defineChoice('UploadPurpose', PURPOSES, 'What an upload is for.');
const ShownPurposeChoice = defineChoice('FilePurpose', [...PURPOSES, 'output', 'batch_output'], 'What a file is for.');
const FileStatusChoice = defineChoice('FileStatus', FILE_STATUSES, 'Whether the bytes of a file have arrived.');

@ObjectType('FileUpload', { description: 'How to send the bytes of a pending file.' })
export class FileUploadView {
  @ApiField.constant('PUT') method: 'PUT';
  @ApiField.string('where to send the bytes; no API key is needed') url: string;
  @ApiField.map('headers that must be sent exactly as here') headers: Record<string, string>;
  @ApiField.long('unix seconds; the URL works until then') expires_at: number;
}

@ObjectType('File', {
  description: 'A file: an upload, an output of a task, or the results of a batch.',
  implements: () => NodeView,
})
export class FileView {
  @ApiField.id('identifier; usable wherever an image is wanted', { example: 'file_01jd8e5t9kf3qs7m2v4xw6yzab' })
  id: string;
  @ApiField.constant('file') object: 'file';
  @ApiField.long('size in bytes. While pending: as announced. Results of a batch: their size now') bytes: number;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.long('unix seconds; the file is deleted at this time; null while it is kept', { nullable: true })
  expires_at: number | null;
  @ApiField.string('as given with the upload') filename: string;
  @ApiField.oneOf(ShownPurposeChoice, 'what the file is for') purpose: Purpose | 'output' | 'batch_output';
  @ApiField.oneOf(FileStatusChoice, 'whether its bytes have arrived') status: FileStatus;
  @ApiField.string('media type of the bytes; as announced while pending', { example: 'image/png' })
  content_type: string;
  @ApiField.integer('pixels; images and videos only', { optional: true }) width?: number;
  @ApiField.integer('pixels; images and videos only', { optional: true }) height?: number;
  @ApiField.string('SHA-256 of the bytes in hex. While pending: as announced, or null. Results of a batch: null', {
    nullable: true,
  })
  sha256: string | null;
  @ApiField.string(
    'signed link to the bytes, which works without the API key; null before they arrive and after they are deleted',
    {
      nullable: true,
    },
  )
  url: string | null;
  @ApiField.long('unix seconds; read the file again for a new link', { nullable: true })
  url_expires_at: number | null;
  @ApiField.string('the task that made it, or whose request contained it', { optional: true }) task_id?: string;
  @ApiField.object(() => FileUploadView, 'how to send the bytes; only in the response that creates a pending file', {
    optional: true,
  })
  upload?: FileUploadView;
  @ApiField.boolean('whether its owner keeps it: it is not deleted when its retention ends; outputs only')
  kept: boolean;
  @ApiField.string('the name under which it is kept', { nullable: true }) collection: string | null;
}

export class FileListView extends listOf(FileView, 'the uploads') {}

@ObjectType('DeletedFile', { description: 'A deleted file.' })
export class DeletedFileView {
  @ApiField.string('identifier of the file') id: string;
  @ApiField.constant('file') object: 'file';
  @ApiField.boolean('always true') deleted: true;
}

export const toDeletedFileView = (id: string): DeletedFileView => ({ id, object: 'file', deleted: true });

/** Describes a file. If its bytes can be read, the link to them is newly signed. */
export function toFileView(file: Upload | OutputFile, links: FileLinks, upload?: FileUploadView): FileView {
  return 'output' in file ? ofOutput(file, links) : ofUpload(file, links, upload);
}

/** `kept` and `collection` of a file that cannot be kept, because it is no output. */
export const NOT_KEPT = { kept: false, collection: null };

function ofUpload(file: Upload, links: FileLinks, upload: FileUploadView | undefined): FileView {
  return {
    id: file.id,
    object: 'file',
    bytes: file.bytes,
    created_at: unixSeconds(file.created_at),
    expires_at: unixSeconds(file.expires_at),
    filename: file.filename,
    purpose: file.purpose,
    status: file.status,
    content_type: file.content_type,
    ...(file.width !== null && file.height !== null && { width: file.width, height: file.height }),
    sha256: file.sha256 ?? file.declared_sha256,
    ...linkTo(file.id, isReadable(file), file.expires_at, links),
    ...(file.task_id !== null && { task_id: file.task_id }),
    ...(upload && { upload }),
    ...NOT_KEPT,
  };
}

function ofOutput({ task, output, expiresAt, isPresent }: OutputFile, links: FileLinks): FileView {
  return {
    id: output.id,
    object: 'file',
    bytes: output.size_bytes,
    created_at: unixSeconds(task.completed_at!),
    expires_at: isKept(output) ? null : unixSeconds(expiresAt),
    filename: filenameOf(output.id, output.content_type),
    purpose: 'output',
    status: 'processed',
    content_type: output.content_type,
    width: output.width,
    height: output.height,
    sha256: output.sha256,
    ...linkTo(output.id, isPresent, expiresAt, links),
    task_id: task.id,
    kept: isKept(output),
    collection: output.collection ?? null,
  };
}

function linkTo(
  id: string,
  isPresent: boolean,
  expiresAt: Date,
  links: FileLinks,
): Pick<FileView, 'url' | 'url_expires_at'> {
  if (!isPresent) return { url: null, url_expires_at: null };
  const link = links.sign(id, unixSeconds(expiresAt));
  return { url: link.url, url_expires_at: link.expiresAt };
}

/** Whether the owner of an upload can read it: its bytes have arrived, and it is neither deleted nor expired. */
export function isReadable(upload: Upload, nowMs: number = Date.now()): boolean {
  const { status, blob_id, deleted_at, expires_at } = upload;
  return status === 'processed' && blob_id !== null && deleted_at === null && expires_at.getTime() > nowMs;
}

const EXTENSIONS: Record<string, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'application/jsonl': 'jsonl',
};

export const filenameOf = (id: string, contentType: string): string => `${id}.${EXTENSIONS[contentType] ?? 'bin'}`;
