import { InputType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { typeIdPattern } from '../../platform/schema/type-id.ts';
import { PurposeChoice } from '../record/file.view.ts';
import { MAX_FILE_BYTES } from './file-inspector.ts';
import type { Purpose } from '../record/upload.entity.ts';

const MAX_PAGE = 100;
export const DEFAULT_PAGE = 20;
const MIN_LIFETIME_S = 3_600;
const MAX_LIFETIME_S = 2_592_000; // 30 days
export const MAX_FILENAME = 255;
const MAX_CONTENT_TYPE = 100;

const AnchorChoice = defineChoice('ExpiryAnchor', ['created_at'], 'The time from which the seconds count.');
const OrderChoice = defineChoice('FileOrder', ['asc', 'desc'], 'Oldest or newest first.');

@InputType('ExpiresAfterInput', { description: 'When a file expires.' })
export class ExpiresAfterInput {
  @ApiField.oneOf(AnchorChoice, 'the time from which the seconds count') anchor: 'created_at';
  @ApiField.integer('seconds', { min: MIN_LIFETIME_S, max: MAX_LIFETIME_S, fromQuery: true }) seconds: number;
}

/** The text parts of an upload. */
export class UploadFormInput {
  @ApiField.oneOf(PurposeChoice, 'what the file is for; vision when left out', { optional: true }) purpose?: Purpose;
  @ApiField.object(() => ExpiresAfterInput, 'when the file expires', { optional: true })
  expires_after?: ExpiresAfterInput;
}

@InputType('CreateUploadInput', { description: 'A file whose bytes are sent afterwards.' })
export class CreateUploadInput {
  @ApiField.string('name of the file; it is only shown', {
    min: 1,
    max: MAX_FILENAME,
    pattern: { regex: /^[^\x00]*$/, message: 'filename must not contain NUL' },
  })
  filename: string;

  @ApiField.integer('size in bytes', { min: 1, max: MAX_FILE_BYTES }) bytes: number;

  @ApiField.string('media type of the bytes', {
    max: MAX_CONTENT_TYPE,
    pattern: { regex: /^[\w.+-]+\/[\w.+-]+$/, message: 'content_type must be a media type such as image/png' },
  })
  content_type: string;

  @ApiField.oneOf(PurposeChoice, 'what the file is for; vision when left out', { optional: true }) purpose?: Purpose;

  @ApiField.string('SHA-256 of the bytes in hex; they are refused if it differs', {
    optional: true,
    pattern: { regex: /^[0-9a-f]{64}$/, message: 'sha256 must be 64 lower-case hex digits' },
  })
  sha256?: string;

  @ApiField.object(() => ExpiresAfterInput, 'when the file expires', { optional: true })
  expires_after?: ExpiresAfterInput;
}

export class ListFilesQuery {
  @ApiField.integer('files per page', { optional: true, min: 1, max: MAX_PAGE, default: DEFAULT_PAGE, fromQuery: true })
  limit?: number;

  @ApiField.string('`last_id` of the previous page', {
    optional: true,
    pattern: { regex: typeIdPattern('file'), message: 'after must be the id of an upload' },
  })
  after?: string;

  @ApiField.oneOf(OrderChoice, 'newest first when left out', { optional: true }) order?: 'asc' | 'desc';

  @ApiField.oneOf(PurposeChoice, 'only uploads of this purpose', { optional: true }) purpose?: Purpose;
}
