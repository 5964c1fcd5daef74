import { Injectable } from '@nestjs/common';
import { CallsService, type CreateTask } from '../../calls/calls.service.ts';
import { fingerprintOf } from '../../calls/fingerprint.ts';
import { isFinal } from '../../tasks/record/task.entity.ts';
import { handleOf, progressText } from '../contract/task-handle.ts';
import { TaskResults } from '../results/task-results.ts';
import { MCP_PATH } from '../contract/mcp-path.ts';
import type { PreviewChoice } from '../schemas/tool-arguments.ts';
import type { ToolAnswer, ToolArguments, ToolCall } from '../contract/tool.ts';
import { AbandonedTasks } from './abandoned-tasks.ts';
import { TaskWaits } from './task-waits.ts';

interface Creation {
  tool: string;
  /** The arguments as the client sent them. If the connection of a call breaks, an equal call joins its task. */
  given: ToolArguments;
  waitS: number;
  /** Seconds after which a client that takes a handle gets one. */
  handleAfterS: number;
  preview: PreviewChoice;
}

/** Creates a task for a tool, waits for its end, and shows the task. */
@Injectable()
export class Creations {
  constructor(
    private readonly calls: CallsService,
    private readonly waits: TaskWaits,
    private readonly abandoned: AbandonedTasks,
    private readonly results: TaskResults,
  ) {}

  /** @throws ApiError those of the creation, of `TaskWaits.admit`, and of a refused API key */
  async run(
    call: ToolCall,
    { tool, given, waitS, handleAfterS, preview }: Creation,
    create: CreateTask,
  ): Promise<ToolAnswer> {
    const { caller, reply, message, gone } = call;
    const stopping = this.waits.admit(call);
    const fingerprint = fingerprintOf(MCP_PATH, { tool, arguments: given });
    const request = { caller, reply, path: MCP_PATH, fingerprint, waits: false, message };
    const started = await this.calls.start(request, create);
    if (!started.isShared) this.abandoned.watch(call, { taskId: started.taskId, fingerprint });
    const seconds = call.takesHandles ? Math.min(waitS, handleAfterS) : waitS;
    const task = await this.waits.untilFinal(call, started.taskId, { seconds, stopping, scope: 'generations:write' });
    const isHandled = call.takesHandles && !isFinal(task.status);
    const answer = isHandled
      ? handleOf(task, progressText(task))
      : await this.results.of(task, { preview, isCause: true, gone });
    await started.delivery?.outcomeFollows();
    return answer;
  }
}
