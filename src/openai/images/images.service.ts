import { Injectable } from '@nestjs/common';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { CallWaits } from '../../calls/call-waits.ts';
import { CallsService, type CallRequest, type StartedCall } from '../../calls/calls.service.ts';
import { GenerationsService } from '../../generation/accept/generations.service.ts';
import { FreshOutputs } from '../../generation/run/fresh-outputs.ts';
import { PartialImages } from '../../generation/run/partial-images.ts';
import { becomesStream } from '../../platform/http/observe-requests.ts';
import { Storage } from '../../platform/storage/storage.ts';
import { STREAM_HEADERS } from '../../tasks/live/send-stream.ts';
import { hangUpWhenUnread } from '../../tasks/live/unread.ts';
import { isFinal } from '../../tasks/record/task.entity.ts';
import { TaskViews } from '../../tasks/read/task-views.ts';
import type { RequestBody } from '../request/request-body.ts';
import { UploadedImages } from '../request/uploaded-images.ts';
import { inClientSpelling } from '../request/translation.ts';
import { answerWithBytes, answerWithLinks } from './image-answer.ts';
import { type Happening, imageEvents } from './image-stream.ts';
import type { ImageRequest } from './image-request.ts';

/** Answers a request for pictures with the pictures, or with links to them. */
@Injectable()
export class ImagesService {
  constructor(
    private readonly calls: CallsService,
    private readonly waits: CallWaits,
    private readonly generations: GenerationsService,
    private readonly partials: PartialImages,
    private readonly views: TaskViews,
    private readonly storage: Storage,
    private readonly fresh: FreshOutputs,
    private readonly uploadedImages: UploadedImages,
  ) {}

  /** @param translate its errors name parameters as the client wrote them */
  async answer(call: CallRequest, body: RequestBody, translate: () => ImageRequest): Promise<void> {
    const request = await orDispose(translate, body);
    try {
      const started = await this.start(call, request).finally(body.dispose); // before the wait, which may take minutes
      describe(call.reply, started);
      if (request.stream) this.answerStream(call, started, request);
      else await this.answerOutcome(call, started, request);
    } catch (error) {
      throw inClientSpelling(error, request);
    }
  }

  private start(call: CallRequest, request: ImageRequest): Promise<StartedCall> {
    const { caller } = call;
    const { approximations, partialImages, images, mask } = request;
    const options = { approximations, origin: { source: 'openai' as const, partialImages } };
    return this.calls.start(call, (reserveKey) =>
      this.uploadedImages.with(caller, mask ? [...images, mask] : images, (references) => {
        const body = { ...request.body, ...imagesOf(references, images.length) };
        return this.generations.accept(caller, body, { ...options, reserveKey });
      }),
    );
  }

  private answerStream(call: CallRequest, started: StartedCall, request: ImageRequest): void {
    const { reply } = call;
    const events = imageEvents({
      happenings: this.happenings(call, started, request),
      outcomeFollows: (task) => this.waits.outcomeFollows(call, started, task),
      storage: this.storage,
      request,
      name: request.name,
      requestId: reply.request.id,
      translate: (thrown) => inClientSpelling(thrown, request),
    });
    hangUpWhenUnread(reply.raw);
    becomesStream(reply.request);
    void reply
      .code(200)
      .headers(STREAM_HEADERS)
      .send(Readable.from(events, { objectMode: false, highWaterMark: 1 }));
  }

  /**
   * Yields the partial pictures of a task, then its final state. Looks for pictures in the final state too, because a
   * slow reader does not see every state.
   */
  private async *happenings(
    call: CallRequest,
    started: StartedCall,
    { partialImages }: ImageRequest,
  ): AsyncGenerator<Happening> {
    let index = 0;
    for await (const task of this.waits.states(call, started)) {
      for (; index < partialImages; index += 1) {
        const bytes = await this.partials.find(task.id, task.attempt, index);
        if (bytes === null) break;
        yield { partial: { task, index, bytes } };
      }
      if (isFinal(task.status)) yield { final: task };
    }
  }

  private async answerOutcome(call: CallRequest, started: StartedCall, request: ImageRequest): Promise<void> {
    if (request.responseFormat === 'b64_json') this.keepFiles(call, started);
    const task = await this.waits.untilSucceeded(call, started);
    const { reply } = call;
    const view = this.views.of(task);
    reply.code(200).type('application/json; charset=utf-8');
    if (request.responseFormat === 'url') return void reply.send(answerWithLinks(task, view, request));
    const { body, length } = await answerWithBytes(task, view, request, { storage: this.storage, fresh: this.fresh });
    void reply.header('content-length', length).send(body);
  }

  /** Keeps the files of the task in memory, if there is room, until the response is closed. */
  private keepFiles({ reply }: CallRequest, { taskId }: StartedCall): void {
    if (!reply.raw.destroyed) reply.raw.once('close', this.fresh.want(taskId));
  }
}

/** @param count how many references are pictures to edit; the next one is the mask */
function imagesOf(references: readonly string[], count: number): object {
  const [edited, [mask]] = [references.slice(0, count), references.slice(count)];
  return { ...(count > 0 && { reference_images: edited }), ...(mask !== undefined && { mask }) };
}

/** From now on the response names the task, even if it is an error. */
function describe(reply: FastifyReply, { taskId, isReplay }: StartedCall): void {
  reply.headers({ 'task-id': taskId, location: `/v1/tasks/${taskId}` });
  if (isReplay) reply.header('idempotent-replayed', 'true');
}

async function orDispose<Result>(read: () => Result, { dispose }: RequestBody): Promise<Result> {
  try {
    return read();
  } catch (error) {
    await dispose();
    throw error;
  }
}
