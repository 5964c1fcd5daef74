import { ApiField } from '../../platform/schema/api-field.ts';

export const MAX_ARCHIVED = 100;

export class CreateArchiveInput {
  @ApiField.list('string', 'uploads and outputs of yours, in the order of the archive', {
    min: 1,
    max: MAX_ARCHIVED,
    unique: true,
  })
  file_ids: string[];
}
