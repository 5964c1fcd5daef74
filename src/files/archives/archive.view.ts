import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';

@ObjectType('Archive', { description: 'A zip of several files, which is made while it is read.' })
export class ArchiveView {
  @ApiField.constant('archive') object: 'archive';
  @ApiField.string('signed link to the zip, which works without the API key') url: string;
  @ApiField.long('unix seconds; the link works until then') expires_at: number;
  @ApiField.long('size of the zip in bytes') bytes: number;
}
