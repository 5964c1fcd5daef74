import { ApiField } from '../../platform/schema/api-field.ts';
import { findModel } from '../../models/catalog.ts';
import { toPixels } from '../../models/definition/sizes.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { TaskApproximationView, type TaskView } from '../../tasks/read/task.view.ts';

const STATUSES = ['queued', 'in_progress', 'completed', 'failed'] as const;
const StatusChoice = defineChoice('OpenaiVideoStatus', STATUSES, 'Status of a video.');

export class VideoErrorView {
  @ApiField.string('reason, for programs') code: string;
  @ApiField.string('reason, for people') message: string;
}

/** A task that makes a video, in the shape of OpenAI's API. */
export class VideoView {
  @ApiField.string('the id of the task') id: string;
  @ApiField.constant('video') object: 'video';
  @ApiField.string('the model that makes it') model: string;
  @ApiField.oneOf(StatusChoice, 'status of the video') status: (typeof STATUSES)[number];
  @ApiField.integer('percent') progress: number;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.long('unix seconds; null while unfinished', { nullable: true }) completed_at: number | null;
  @ApiField.long('unix seconds at which the file is deleted; null without a file', { nullable: true })
  expires_at: number | null;
  @ApiField.string('as given') prompt: string;
  @ApiField.string('length in seconds') seconds: string;
  @ApiField.string('width x height in pixels', { example: '720x1280' }) size: string;
  @ApiField.string('the video whose input this one was made from', { nullable: true })
  remixed_from_video_id: string | null;
  @ApiField.object(() => VideoErrorView, 'why it failed; null unless it did', { nullable: true })
  error: VideoErrorView | null;
  @ApiField.list(() => TaskApproximationView, 'requested values that could only be approximated', { optional: true })
  approximations?: TaskApproximationView[];
}

export class VideoListView extends listOf(VideoView, 'the videos') {}

const STATUS_OF = { queued: 'queued', running: 'in_progress', succeeded: 'completed', failed: 'failed' } as const;

export function toVideo(task: TaskView): VideoView {
  const { prompt, duration } = task.input as { prompt: string; duration: number };
  const { error, result } = task;
  return {
    id: task.task_id,
    object: 'video',
    model: task.model,
    status: STATUS_OF[task.status],
    progress: task.progress,
    created_at: task.created_at,
    completed_at: task.completed_at || null,
    expires_at: result?.expires_at ?? null,
    prompt,
    seconds: String(duration),
    size: sizeOf(task),
    remixed_from_video_id: task.relation === 'remix' ? task.parent_task_id : null,
    error: error ? { code: error.code, message: error.message } : null,
    ...(task.approximations && { approximations: task.approximations }),
  };
}

/**
 * The size of the finished video. Before the end, it is the requested size. If no size is known for the requested ratio
 * and resolution, it is the resolution.
 */
function sizeOf({ model, input, result }: TaskView): string {
  const [made] = result?.outputs ?? [];
  if (made) return toPixels(made);
  const {
    aspect_ratio,
    resolution,
    size: exact,
  } = input as Record<'aspect_ratio' | 'resolution', string> & { size?: string };
  if (exact !== undefined) return exact;
  const size = findModel(model)?.sizes[aspect_ratio]?.[resolution];
  return size ? toPixels(size) : resolution;
}
