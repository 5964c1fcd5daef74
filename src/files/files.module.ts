import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Nodes } from '../auth/access/nodes.ts';
import type { Caller } from '../auth/access/caller.ts';
import { AuthModule } from '../auth/auth.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { ArchiveFiles } from './archives/archive-files.ts';
import { ArchivesController } from './archives/archives.controller.ts';
import { ArchivesResolver } from './archives/archives.resolver.ts';
import { Archives } from './archives/archives.ts';
import { OpenArchives } from './archives/open-archives.ts';
import { BatchFiles } from './uploads/batch-files.ts';
import { ContentController } from './content/content.controller.ts';
import { DirectDelivery } from './content/direct-delivery.ts';
import { FileContents } from './content/file-contents.ts';
import { FileViews } from './file-views.ts';
import { FilesController } from './files.controller.ts';
import { FilesResolver } from './files.resolver.ts';
import { FilesService } from './uploads/files.service.ts';
import { KeepFiles } from './keep-files.ts';
import { GeneratedFiles } from './content/generated-files.ts';
import { RequestImagesService } from './images/request-images.service.ts';
import { LinkedImages } from './images/linked-images.ts';
import { StoredImages } from './images/stored-images.ts';
import { PreviewsController } from './previews/previews.controller.ts';
import { PreviewLinks } from './previews/preview-links.ts';
import { OutputPreviewResolver, TaskCoverResolver } from './previews/previews.resolver.ts';
import { Previews } from './previews/previews.ts';
import { EraseShares } from './shares/erase-shares.ts';
import { Share } from './record/share.entity.ts';
import { SharedFiles } from './shares/shared-files.ts';
import { ShareLinks } from './shares/share-links.ts';
import { SharePageController } from './shares/share-page.controller.ts';
import { ShareRows } from './sql/share-rows.ts';
import { Shares } from './shares/shares.ts';
import { SharesController } from './shares/shares.controller.ts';
import { SharesResolver } from './shares/shares.resolver.ts';
import { EraseUploadRows } from './sql/erase-uploads.ts';
import { PurgeUploads } from './sql/purge-uploads.ts';
import { ReserveUploads } from './sql/reserve-uploads.ts';
import { Blobs } from './uploads/blobs.ts';
import { DirectUploads } from './uploads/direct-uploads.ts';
import { FileInspector } from './uploads/file-inspector.ts';
import { UploadBlob } from './record/upload-blob.entity.ts';
import { EraseUploads } from './uploads/erase-uploads.ts';
import { UploadPurgeWorker } from './uploads/upload-purge.worker.ts';
import { RequestFileSum } from './record/request-file-sum.entity.ts';
import { Upload } from './record/upload.entity.ts';

/** Files that clients upload and that tasks make, their previews, archives and shares. */
@Module({
  imports: [AuthModule, TasksModule, TypeOrmModule.forFeature([RequestFileSum, Share, Upload, UploadBlob])],
  controllers: [
    ArchivesController,
    FilesController,
    ContentController,
    PreviewsController,
    SharesController,
    SharePageController,
  ],
  providers: [
    ArchiveFiles,
    Archives,
    ArchivesResolver,
    BatchFiles,
    Blobs,
    DirectDelivery,
    DirectUploads,
    EraseShares,
    EraseUploadRows,
    EraseUploads,
    FileContents,
    FileInspector,
    FileViews,
    FilesResolver,
    FilesService,
    GeneratedFiles,
    KeepFiles,
    LinkedImages,
    OpenArchives,
    OutputPreviewResolver,
    PreviewLinks,
    Previews,
    PurgeUploads,
    RequestImagesService,
    ReserveUploads,
    SharedFiles,
    ShareLinks,
    ShareRows,
    Shares,
    SharesResolver,
    StoredImages,
    TaskCoverResolver,
    UploadPurgeWorker,
  ],
  exports: [BatchFiles, FileContents, FilesService, GeneratedFiles, LinkedImages, RequestImagesService, StoredImages],
})
export class FilesModule implements OnModuleInit {
  constructor(
    private readonly nodes: Nodes,
    private readonly views: FileViews,
  ) {}

  onModuleInit(): void {
    const find = ({ apiKeyId }: Caller, id: string) => this.views.find(apiKeyId, id);
    this.nodes.register({ prefix: 'file', name: 'File', scope: 'tasks:read', find });
  }
}
