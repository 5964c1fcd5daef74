import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import type { Share } from '../record/share.entity.ts';
import type { ShareLinks } from './share-links.ts';

@ObjectType('Share', { description: 'A page of some files for people without a key.' })
export class ShareView {
  @ApiField.string('identifier', { example: 'share_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.constant('share') object: 'share';
  @ApiField.string('the signed address of the page: anyone with it can open the page') url: string;
  @ApiField.list('string', 'the files, in the order of the page') file_ids: string[];
  @ApiField.boolean('whether the page shows the prompts') show_prompt: boolean;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.long('unix seconds; nobody can open the page after this time') expires_at: number;
}

export class ShareListView extends listOf(ShareView, 'the shares') {}

@ObjectType('DeletedShare', { description: 'A deleted share.' })
export class DeletedShareView {
  @ApiField.string('identifier of the share') id: string;
  @ApiField.constant('share') object: 'share';
  @ApiField.boolean('always true') deleted: true;
}

export const toShareView = (share: Share, links: ShareLinks): ShareView => ({
  id: share.id,
  object: 'share',
  url: links.urlOf(share.id),
  file_ids: share.file_ids,
  show_prompt: share.show_prompt,
  created_at: unixSeconds(share.created_at),
  expires_at: unixSeconds(share.expires_at),
});

export const toDeletedShareView = (id: string): DeletedShareView => ({ id, object: 'share', deleted: true });
