import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, CountsAs, CurrentCaller, type GuardedRequest, RequireScope } from '../auth/access/access.ts';
import type { Caller } from '../auth/access/caller.ts';
import { requireJsonObject } from '../platform/http/strict-json.ts';
import { AcceptsBody } from '../platform/http/multipart/accepts-body.ts';
import { MultipartBody } from '../platform/http/multipart/multipart-body.ts';
import { toList } from '../platform/schema/list-of.ts';
import { checkInput } from '../platform/http/input.pipe.ts';
import { type Actor, CurrentActor } from '../auth/audit/actor.ts';
import { KeepInput } from '../tasks/edge/keep.inputs.ts';
import { FileLinks } from '../tasks/read/file-links.ts';
import { CreateUploadInput, DEFAULT_PAGE, ListFilesQuery } from './uploads/file.inputs.ts';
import { DeletedFileView, FileListView, FileView, toDeletedFileView, toFileView } from './record/file.view.ts';
import { FileViews } from './file-views.ts';
import { KeepFiles } from './keep-files.ts';
import { FilesService } from './uploads/files.service.ts';
import { readUploadForm } from './uploads/upload-form.ts';
import { DirectUploads } from './uploads/direct-uploads.ts';
import { PURPOSES } from './record/upload.entity.ts';
import { headerRefs } from '../platform/openapi/headers.ts';
import { Fails } from '../platform/openapi/faults.ts';

const UPLOAD_FORM = {
  type: 'object' as const,
  required: ['file'],
  additionalProperties: false,
  properties: {
    file: { type: 'string', format: 'binary' },
    purpose: { type: 'string', enum: [...PURPOSES], default: 'vision' },
    'expires_after[anchor]': { type: 'string', enum: ['created_at'] },
    'expires_after[seconds]': { type: 'integer', minimum: 3600, maximum: 2_592_000 },
  },
};

@ApiTags('Files')
@Controller('v1/files')
export class FilesController {
  constructor(
    private readonly files: FilesService,
    private readonly direct: DirectUploads,
    private readonly links: FileLinks,
    private readonly views: FileViews,
    private readonly keeps: KeepFiles,
  ) {}

  @Post()
  @RequireScope('generations:write')
  @CountsAs('create')
  @AcceptsBody({ multipart: true })
  @Fails('invalid_file', 'file_quota_exceeded', 'session_expired', 'origin_not_allowed')
  @ApiOperation({
    summary: 'Upload a file in a form, or announce one in JSON and get a URL for its bytes',
    operationId: 'createFile',
    requestBody: {
      required: true,
      content: {
        'multipart/form-data': { schema: UPLOAD_FORM },
        'application/json': { schema: { $ref: getSchemaPath(CreateUploadInput) } },
      },
    },
  })
  @ApiExtraModels(CreateUploadInput)
  @ApiCreatedResponse({ type: FileView, headers: headerRefs('Location') })
  async create(
    @Req() request: FastifyRequest & GuardedRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<FileView> {
    const caller = callerOf(request);
    const view =
      request.body instanceof MultipartBody
        ? await this.createFromForm(caller, request.body)
        : await this.announce(caller, request.body);
    reply.header('location', `/v1/files/${view.id}`);
    return view;
  }

  private async createFromForm(caller: Caller, body: MultipartBody): Promise<FileView> {
    const form = await body.read({
      owner: caller.apiKeyId,
      only: 'file',
      tooLarge: (fields) =>
        fields.some(([name, text]) => name === 'purpose' && text === 'batch') ? 'invalid_file' : 'invalid_image',
    });
    try {
      const { file, input } = readUploadForm(form);
      const { purpose = 'vision', expires_after } = input;
      const { filename } = file;
      const upload = await this.files.create(caller, file, { purpose, filename, lifetimeS: expires_after?.seconds });
      return toFileView(upload, this.links);
    } finally {
      await form.dispose();
    }
  }

  private async announce(caller: Caller, body: unknown): Promise<FileView> {
    const input = checkInput(CreateUploadInput, requireJsonObject(body));
    const { pending, upload } = await this.direct.create(caller, input);
    return toFileView(pending, this.links, upload);
  }

  @Post(':id/complete')
  @HttpCode(200)
  @RequireScope('generations:write')
  @CountsAs('create')
  @Fails('file_not_found', 'upload_incomplete', 'invalid_image', 'invalid_file', 'file_quota_exceeded', 'file_expired')
  @ApiOperation({ summary: 'Check the bytes of a pending file, which makes it usable', operationId: 'completeFile' })
  @ApiOkResponse({ type: FileView })
  async complete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<FileView> {
    return toFileView(await this.direct.complete(caller, id), this.links);
  }

  @Get()
  @RequireScope('tasks:read')
  @ApiOperation({ summary: 'List the uploads, newest first', operationId: 'listFiles' })
  @ApiOkResponse({ type: FileListView })
  async list(
    @CurrentCaller() { apiKeyId }: Caller,
    @Query() { limit = DEFAULT_PAGE, ...page }: ListFilesQuery,
  ): Promise<FileListView> {
    const { uploads, hasMore } = await this.files.list(apiKeyId, { limit, ...page });
    const views = uploads.map((upload) => toFileView(upload, this.links));
    return toList(views, hasMore, ({ id }) => id);
  }

  @Get(':id')
  @RequireScope('tasks:read')
  @Fails('file_not_found')
  @ApiOperation({ summary: 'Read a file: what it is, and a link to its bytes', operationId: 'describeFile' })
  @ApiOkResponse({ type: FileView })
  find(@CurrentCaller() { apiKeyId }: Caller, @Param('id') id: string): Promise<FileView> {
    return this.views.find(apiKeyId, id);
  }

  @Put(':id/keep')
  @RequireScope('generations:write')
  @CountsAs('create')
  @Fails('file_not_found', 'file_expired', 'kept_quota_exceeded')
  @ApiOperation({ summary: 'Keep an output, and the record of its task', operationId: 'keepFile' })
  @ApiBody({ type: KeepInput, required: false })
  @ApiOkResponse({ type: FileView })
  keep(
    @Param('id') id: string,
    @Body() { collection = null }: KeepInput,
    @CurrentActor() actor: Actor,
  ): Promise<FileView> {
    return this.keeps.keep(actor, id, collection);
  }

  @Delete(':id/keep')
  @RequireScope('generations:write')
  @CountsAs('create')
  @Fails('file_not_found', 'invalid_value')
  @ApiOperation({ summary: 'Stop keeping an output: it is deleted when its retention ends', operationId: 'unkeepFile' })
  @ApiOkResponse({ type: FileView })
  giveUp(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<FileView> {
    return this.keeps.giveUp(actor, id);
  }

  @Delete(':id')
  @HttpCode(200)
  @RequireScope('generations:write')
  @Fails('file_not_found')
  @ApiOperation({ summary: 'Delete an upload, or the bytes of an output', operationId: 'deleteFile' })
  @ApiOkResponse({ type: DeletedFileView })
  async delete(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedFileView> {
    await this.files.delete(actor, id);
    return toDeletedFileView(id);
  }
}
