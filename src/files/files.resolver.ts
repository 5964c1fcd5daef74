import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import { CountsAs, CurrentCaller, RequireScope } from '../auth/access/access.ts';
import type { Caller } from '../auth/access/caller.ts';
import { ApiError } from '../errors/api-error.ts';
import { After, type Connection, connectionOf, First, toConnection } from '../platform/graphql/connection.ts';
import { type Actor, CurrentActor } from '../auth/audit/actor.ts';
import { Collection } from '../tasks/edge/keep.inputs.ts';
import { FileLinks } from '../tasks/read/file-links.ts';
import { isUploadId } from './record/file-id.ts';
import { CreateUploadInput } from './uploads/file.inputs.ts';
import { DeletedFileView, FileView, PurposeChoice, toDeletedFileView, toFileView } from './record/file.view.ts';
import { FileViews } from './file-views.ts';
import { KeepFiles } from './keep-files.ts';
import { FilesService } from './uploads/files.service.ts';
import { DirectUploads } from './uploads/direct-uploads.ts';
import type { Purpose } from './record/upload.entity.ts';

const FileConnection = connectionOf(FileView, 'File');
const FileId = (): ParameterDecorator => Args('id', { type: () => String, description: 'identifier of the file' });

/** The bytes of files never travel through GraphQL. */
@Resolver()
export class FilesResolver {
  constructor(
    private readonly service: FilesService,
    private readonly direct: DirectUploads,
    private readonly links: FileLinks,
    private readonly views: FileViews,
    private readonly keeps: KeepFiles,
  ) {}

  @Query(() => FileView, {
    description: 'An upload, an output or the results of a batch. An unknown id is the error file_not_found.',
  })
  @RequireScope('tasks:read')
  file(@CurrentCaller() { apiKeyId }: Caller, @FileId() id: string): Promise<FileView> {
    return this.views.find(apiKeyId, id);
  }

  @Query(() => FileConnection, { description: 'The uploads of your API key, newest first.' })
  @RequireScope('tasks:read')
  async files(
    @CurrentCaller() { apiKeyId }: Caller,
    @First() first: number,
    @After() after: string | null | undefined,
    @Args('purpose', { type: () => PurposeChoice.graphql, nullable: true, description: 'only of this purpose' })
    purpose: Purpose | null | undefined,
  ): Promise<Connection<FileView>> {
    if (typeof after === 'string' && !isUploadId(after)) {
      throw new ApiError('invalid_value', { param: 'after', message: 'after must be the id of an upload.' });
    }
    const page = { limit: first, after: after ?? undefined, purpose: purpose ?? undefined };
    const { uploads, hasMore } = await this.service.list(apiKeyId, page);
    const views = uploads.map((upload) => toFileView(upload, this.links));
    return toConnection(views, ({ id }) => id, { hasMore, after });
  }

  @Mutation(() => FileView, { description: 'Announces a file. Send its bytes to `upload.url`, then complete it.' })
  @RequireScope('generations:write')
  @CountsAs('create')
  async createUpload(
    @CurrentCaller() caller: Caller,
    @Args('input', { description: 'the file to announce' }) input: CreateUploadInput,
  ): Promise<FileView> {
    const { pending, upload } = await this.direct.create(caller, input);
    return toFileView(pending, this.links, upload);
  }

  @Mutation(() => FileView, { description: 'Checks the bytes of a pending file. It is usable then.' })
  @RequireScope('generations:write')
  @CountsAs('create')
  async completeUpload(@CurrentCaller() caller: Caller, @FileId() id: string): Promise<FileView> {
    return toFileView(await this.direct.complete(caller, id), this.links);
  }

  @Mutation(() => FileView, {
    description: 'Keeps an output and the record of its task: they are not deleted when their retention ends.',
  })
  @RequireScope('generations:write')
  @CountsAs('create')
  async keepFile(
    @CurrentActor() actor: Actor,
    @FileId() id: string,
    @Collection() collection?: string | null,
  ): Promise<FileView> {
    return this.keeps.keep(actor, id, collection ?? null);
  }

  @Mutation(() => FileView, { description: 'Stops keeping an output: it is deleted when its retention ends.' })
  @RequireScope('generations:write')
  @CountsAs('create')
  unkeepFile(@CurrentActor() actor: Actor, @FileId() id: string): Promise<FileView> {
    return this.keeps.giveUp(actor, id);
  }

  @Mutation(() => DeletedFileView, { description: 'Deletes an upload, or the bytes of an output.' })
  @RequireScope('generations:write')
  async deleteFile(@CurrentActor() actor: Actor, @FileId() id: string): Promise<DeletedFileView> {
    await this.service.delete(actor, id);
    return toDeletedFileView(id);
  }
}
