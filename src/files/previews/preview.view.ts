import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';

@ObjectType('FilePreview', { description: 'A small WebP still of an output.' })
export class FilePreviewView {
  @ApiField.string('signed link, which works without the API key') url: string;
  @ApiField.long('unix seconds; read the task again for a new link') url_expires_at: number;
  @ApiField.integer('pixels') width: number;
  @ApiField.integer('pixels') height: number;
}
