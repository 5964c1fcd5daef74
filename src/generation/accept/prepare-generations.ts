import { Injectable } from '@nestjs/common';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { type RequestImages, RequestImagesService } from '../../files/images/request-images.service.ts';
import { imageUrlsOf, replaceImageUrls } from '../../models/definition/parameters.ts';
import { deadlineS, type Model } from '../../models/definition/model.ts';
import { Config } from '../../platform/config/config.ts';
import { checkOutboundUrl } from '../../platform/outbound/url-rules.ts';
import { deadlinesOf, type TaskRequest } from '../../tasks/acts/new-tasks.ts';
import type { TaskOrigin } from '../../tasks/record/task-origin.ts';
import type { Approximation, ShownTask } from '../../tasks/record/task.entity.ts';
import { Pauses } from '../../tasks/queue/pauses.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import { Costs } from './costs.ts';
import { type ParsedGeneration, parseGeneration } from './parse-generation.ts';
import type { ResolvedInput } from '../../providers/contract/provider.ts';

/** A creation as a client asks for it. */
export interface RequestedGeneration {
  /** The body in the field names of REST. */
  body: unknown;
  /** What the calling interface had to approximate to translate its own request into this one. */
  approximations?: Approximation[];
}

/** A valid creation, not yet stored. */
export interface PreparedGeneration {
  request: TaskRequest;
  /** A parent, if there is one, is known to be a task of the caller. */
  origin: Pick<TaskOrigin, 'parent' | 'relation'>;
  images: RequestImages;
}

const NO_PARENT: Partial<TaskOrigin> = {};

/** Seconds that are added to the deadlines, because a worker may be late with the end of a task. */
const SLACK_S = 600;

/**
 * How many requests are validated before other clients get their turn, because a thousand in a row would hold these
 * clients up.
 */
const AT_ONCE = 50;

/** Validates creations, one or many in a call. */
@Injectable()
export class PrepareGenerations {
  constructor(
    private readonly config: Config,
    private readonly tasks: TasksService,
    private readonly images: RequestImagesService,
    private readonly costs: Costs,
    private readonly pauses: Pauses,
  ) {}

  /** @throws ApiError for the first fault */
  parse(caller: Caller, body: unknown): ParsedGeneration {
    return parseGeneration(body, caller, (url) => {
      if (!this.images.isOwn(url)) checkOutboundUrl(url, this.config, { https: false });
    });
  }

  /** Why creations for this model are refused at present; null if they are accepted. */
  refusalOf({ id }: Model): ApiError | null {
    return this.pauses.refusalOf(id);
  }

  /** Seconds for which a task may need the files of its request. */
  needS(task: Pick<ShownTask, 'kind' | 'low' | 'source'>): number {
    return deadlinesOf(task, this.config).deadline_s + deadlineS(task.kind, this.config) + SLACK_S;
  }

  /** @throws ApiError invalid_value if the parent is given but is no task of the caller */
  async parentOf({ apiKeyId }: Caller, parent: string | null): Promise<Partial<TaskOrigin>> {
    if (parent === null) return NO_PARENT;
    try {
      await this.tasks.find(apiKeyId, parent);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'task_not_found') throw error;
      const message = 'parent_task_id must be the id of a task of yours.';
      throw new ApiError('invalid_value', { param: 'parent_task_id', message });
    }
    return { parent, relation: 'variation' };
  }

  /**
   * Validates all requests. The caller must then attach or forget the images of each valid request.
   * @param needS seconds for which the tasks may need their files
   * @returns for each request the creation, or its first fault
   */
  async prepareAll(
    caller: Caller,
    requests: readonly (RequestedGeneration | ApiError)[],
    needS: number,
  ): Promise<(PreparedGeneration | ApiError)[]> {
    const parsed: (Parsed | ApiError)[] = [];
    for (let from = 0; from < requests.length; from += AT_ONCE) {
      const chunk = requests.slice(from, from + AT_ONCE);
      parsed.push(...(await Promise.all(chunk.map((request) => this.parsed(caller, request)))));
      await endOfTurn();
    }
    const fields = parsed.map((each) => (each instanceof ApiError ? [] : imageUrlsOf(each.model, each.input)));
    const images = await this.images.resolveAll(caller, fields, needS);
    return parsed.map((each, at) => {
      const found = images[at]!;
      if (each instanceof ApiError) return each;
      if (found instanceof ApiError) return found;
      const { model, metadata, priority, approximations, parent, relation } = each;
      const input = withFiles(model, each.input, found);
      const request = this.requestOf({ model, input, metadata, priority, approximations });
      return { request, origin: { parent, relation }, images: found };
    });
  }

  /** The task to store for a valid creation, whose input has the ids of files in place of data: URLs. */
  requestOf({ model, input, metadata, priority, approximations }: ValidGeneration): TaskRequest {
    const estimate = () => this.costs.of(model, input).amount_micros;
    return {
      kind: model.kind,
      model: model.id,
      modelVersion: model.version,
      input,
      metadata,
      priority,
      approximations,
      estimate,
    };
  }

  private async parsed(caller: Caller, requested: RequestedGeneration | ApiError): Promise<Parsed | ApiError> {
    if (requested instanceof ApiError) return requested;
    try {
      const { approximations } = requested;
      const { parentTaskId, ...generation } = this.parse(caller, requested.body);
      const refusal = this.refusalOf(generation.model);
      if (refusal) throw refusal;
      const { parent = null, relation = null } = await this.parentOf(caller, parentTaskId);
      return { ...generation, approximations, parent, relation };
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return error;
      throw error;
    }
  }
}

type ValidGeneration = Omit<ParsedGeneration, 'parentTaskId'> & { approximations: Approximation[] | undefined };

type Parsed = ValidGeneration & Pick<TaskOrigin, 'parent' | 'relation'>;

/** The input with the ids of files in place of data: URLs. */
export const withFiles = (model: Model, input: ResolvedInput, { replaced }: RequestImages): ResolvedInput =>
  replaced.size === 0 ? input : replaceImageUrls(model, input, ({ param }) => replaced.get(param) ?? null);
