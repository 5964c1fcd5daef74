import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type BatchEndpoint, BatchEndpoints, type TranslatedItem } from '../batches/create/batch-endpoints.ts';
import type { ApiError } from '../errors/api-error.ts';
import { TaskViews } from '../tasks/read/task-views.ts';
import type { ShownTask } from '../tasks/record/task.entity.ts';
import { unsupported } from './request/fields.ts';
import { type EditImages, takeEditImages } from './images/edit-images.ts';
import { answerWithLinks } from './images/image-answer.ts';
import { translateImages } from './images/image-request.ts';
import { ModelIds } from './request/model-ids.ts';
import type { RequestBody } from './request/request-body.ts';
import { inClientSpelling, type Translation } from './request/translation.ts';
import type { RequestImage } from './request/uploaded-images.ts';
import { translateVideo } from './videos/video-request.ts';
import { toVideo } from './videos/video.view.ts';

/**
 * Registers the image and video routes as endpoints of batches. Each item of a batch is a JSON body. Each picture is
 * answered with a link.
 */
@Injectable()
export class OpenaiBatchEndpoints implements OnModuleInit {
  constructor(
    private readonly endpoints: BatchEndpoints,
    private readonly models: ModelIds,
    private readonly views: TaskViews,
  ) {}

  onModuleInit(): void {
    this.endpoints.register(this.images('/v1/images/generations', () => null));
    this.endpoints.register(this.images('/v1/images/edits', takeEditImages));
    this.endpoints.register({
      path: '/v1/videos',
      translate: (given, caller) => {
        const request = translateVideo(jsonBody(given), this.models.of(caller));
        const { firstFrame } = request;
        return translated(request, firstFrame ? { first_frame_image_url: referenceOf(firstFrame) } : {});
      },
      answer: (task) => toVideo(this.views.of(task)),
    });
  }

  private images(path: string, editOf: (body: RequestBody) => EditImages | null): BatchEndpoint {
    return {
      path,
      translate: (given, caller) => {
        const body = jsonBody(given);
        refuseBytes(body.fields);
        const request = translateImages(body, this.models.of(caller), editOf(body));
        const { images, mask } = request;
        return translated(request, {
          ...(images.length > 0 && { reference_images: images.map(referenceOf) }),
          ...(mask && { mask: referenceOf(mask) }),
        });
      },
      answer: (task) => this.imageAnswer(task),
    };
  }

  private imageAnswer(task: ShownTask): unknown {
    const safetyIdentifier = task.metadata.safety_identifier;
    return JSON.parse(answerWithLinks(task, this.views.of(task), { safetyIdentifier }));
  }
}

/**
 * Refuses a stream, and pictures as base64. A batch answers with links, because the pictures of a thousand items would
 * be too large for a file.
 */
function refuseBytes(fields: Record<string, unknown>): void {
  if (fields.stream === true) throw unsupported('stream', 'Items of a batch are not streamed; leave stream out.');
  fields.response_format ??= 'url';
  if (fields.response_format === 'b64_json') {
    throw unsupported('response_format', 'A batch answers with links: response_format must be url, or left out.');
  }
}

function translated(translation: Translation, images: object): TranslatedItem {
  return {
    body: { ...translation.body, ...images },
    approximations: translation.approximations,
    inClientWords: (error) => inClientSpelling(error, translation) as ApiError,
  };
}

const referenceOf = (image: RequestImage): string => ('reference' in image ? image.reference : '');

/** The JSON body of an item. The fields are copied, because their readers change them. */
const jsonBody = (fields: Record<string, unknown>): RequestBody => ({
  isForm: false,
  fields: { ...fields },
  files: [],
  fingerprint: '',
  dispose: async () => undefined,
});
