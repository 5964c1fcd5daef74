import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/access/caller.ts';
import { CallsService, type CallRequest, type StartedCall } from '../../calls/calls.service.ts';
import { ApiError } from '../../errors/api-error.ts';
import { GenerationsService } from '../../generation/accept/generations.service.ts';
import type { TaskRelation } from '../../tasks/record/task-origin.ts';
import type { ShownTask } from '../../tasks/record/task.entity.ts';
import { type List, toList } from '../../platform/schema/list-of.ts';
import { TaskViews } from '../../tasks/read/task-views.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import { UploadedImages } from '../request/uploaded-images.ts';
import { inClientSpelling } from '../request/translation.ts';
import type { VideoRequest } from './video-request.ts';
import type { VideoPage } from './video-page.ts';
import { toVideo, type VideoView } from './video.view.ts';

interface Origin {
  parent: string;
  relation: TaskRelation;
}

export interface CreatedVideo {
  video: VideoView;
  call: StartedCall;
}

/** Serves tasks of the kind `video`, whichever interface created them. */
@Injectable()
export class VideosService {
  constructor(
    private readonly calls: CallsService,
    private readonly generations: GenerationsService,
    private readonly tasks: TasksService,
    private readonly views: TaskViews,
    private readonly uploadedImages: UploadedImages,
  ) {}

  /** Answers as soon as the task is created. A retry of a broken call gets the same video. */
  async create(call: CallRequest, request: VideoRequest, origin?: Origin): Promise<CreatedVideo> {
    const { approximations, firstFrame } = request;
    const options = { approximations, origin: { source: 'openai' as const, ...origin } };
    try {
      const started = await this.calls.start(call, (reserveKey) =>
        this.uploadedImages.with(call.caller, firstFrame ? [firstFrame] : [], ([reference]) => {
          const body = { ...request.body, ...(reference !== undefined && { first_frame_image_url: reference }) };
          return this.generations.accept(call.caller, body, { ...options, reserveKey });
        }),
      );
      const task = await this.tasks.find(call.caller.apiKeyId, started.taskId);
      await started.delivery?.outcomeFollows();
      return { video: toVideo(this.views.of(task)), call: started };
    } catch (error) {
      throw inClientSpelling(error, request);
    }
  }

  /**
   * A request for another video: the input of this task with another prompt. The model does not get the first video
   * itself.
   */
  remixOf(task: ShownTask, prompt: unknown): VideoRequest {
    const { prompt: _first, ...input } = task.input;
    return {
      body: { model: task.model, ...input, ...(prompt !== undefined && { prompt }) },
      approximations: [{ param: 'video', requested: task.id, used: 'its parameters' }],
      spelling: new Map(),
      firstFrame: null,
    };
  }

  /** @throws ApiError task_not_found, also for a task that makes pictures */
  async find({ apiKeyId }: Caller, id: string): Promise<ShownTask> {
    const task = await this.tasks.find(apiKeyId, id);
    if (task.kind !== 'video')
      throw new ApiError('task_not_found', { param: 'id', message: 'No video of yours has this id.' });
    return task;
  }

  async list({ apiKeyId }: Caller, page: VideoPage): Promise<List<VideoView>> {
    const { tasks, hasMore } = await this.tasks.list(apiKeyId, { kind: 'video' }, page);
    return toList(
      tasks.map((task) => this.show(task)),
      hasMore,
      ({ id }) => id,
    );
  }

  show(task: ShownTask): VideoView {
    return toVideo(this.views.of(task));
  }
}
