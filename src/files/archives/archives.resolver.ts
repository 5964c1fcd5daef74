import { Args, Mutation, Resolver } from '@nestjs/graphql';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { checkArguments } from '../../platform/http/input.pipe.ts';
import { CreateArchiveInput } from './archive.inputs.ts';
import { ArchiveView } from './archive.view.ts';
import { Archives } from './archives.ts';

@Resolver()
export class ArchivesResolver {
  constructor(private readonly archives: Archives) {}

  @Mutation(() => ArchiveView, { description: 'A link to a zip of 1 to 100 files.' })
  @RequireScope('tasks:read')
  createArchive(
    @CurrentCaller() { apiKeyId }: Caller,
    @Args('fileIds', { type: () => [String], description: 'uploads and outputs of yours' }) fileIds: string[],
  ): Promise<ArchiveView> {
    return this.archives.create(apiKeyId, checkArguments(CreateArchiveInput, { file_ids: fileIds }).file_ids);
  }
}
