import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.ts';
import { CallsModule } from '../calls/calls.module.ts';
import { FilesModule } from '../files/files.module.ts';
import { GenerationModule } from '../generation/generation.module.ts';
import { ModelsModule } from '../models/models.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { UsageModule } from '../usage/usage.module.ts';
import { McpController } from './http/mcp.controller.ts';
import { OriginCheck } from './http/origin-check.ts';
import { LoadedFiles } from './protocol/loaded-files.ts';
import { ProtocolServer } from './protocol/protocol-server.ts';
import { ProtocolTasks } from './protocol/protocol-tasks.ts';
import { ResourcesService } from './protocol/resources.service.ts';
import { Previews } from './results/previews.ts';
import { TaskResults } from './results/task-results.ts';
import { AbandonedTasks } from './running/abandoned-tasks.ts';
import { Creations } from './running/creations.ts';
import { Lookups } from './running/lookups.ts';
import { TaskWaits } from './running/task-waits.ts';
import { CancelTaskTool } from './tools/cancel-task.tool.ts';
import { GenerateImageTool } from './tools/generate-image.tool.ts';
import { GenerateVideoTool } from './tools/generate-video.tool.ts';
import { GetTaskTool } from './tools/get-task.tool.ts';
import { GetUsageTool } from './tools/get-usage.tool.ts';
import { KeepTaskTool } from './tools/keep-task.tool.ts';
import { ListModelsTool } from './tools/list-models.tool.ts';
import { ListTasksTool } from './tools/list-tasks.tool.ts';
import { RetryTaskTool } from './tools/retry-task.tool.ts';
import { ToolsService } from './tools/tools.service.ts';

/** Tools for agents, over the same services as REST. */
@Module({
  imports: [AuthModule, CallsModule, FilesModule, GenerationModule, ModelsModule, TasksModule, UsageModule],
  controllers: [McpController],
  providers: [
    AbandonedTasks,
    CancelTaskTool,
    Creations,
    GenerateImageTool,
    GenerateVideoTool,
    GetTaskTool,
    GetUsageTool,
    KeepTaskTool,
    ListModelsTool,
    ListTasksTool,
    LoadedFiles,
    Lookups,
    OriginCheck,
    Previews,
    ProtocolServer,
    ProtocolTasks,
    ResourcesService,
    RetryTaskTool,
    TaskResults,
    TaskWaits,
    ToolsService,
  ],
})
export class McpModule {}
