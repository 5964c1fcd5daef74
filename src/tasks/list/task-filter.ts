import { InputType } from '@nestjs/graphql';
import { IsIn, IsInt, IsObject, IsOptional, IsString, Max, Min } from 'class-validator';
import { ApiError } from '../../errors/api-error.ts';
import { MEDIA_KINDS, type MediaKind, MediaKindChoice } from '../../models/media-kind.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import type { TaskFilter } from './list-tasks.ts';
import { TASK_STATUSES, type TaskStatus } from '../task-status.ts';
import { TaskStatusChoice } from '../task.view.ts';

const MAX_INT = 2 ** 31 - 1;

/** The filter of lists and subscriptions, as the query string of GET /v1/tasks has it. In GraphQL null means not given. */
@InputType('TaskFilter', { description: 'Which tasks are meant: those to which everything given applies.' })
export class TaskFilterInput {
  @ApiField.oneOf(TaskStatusChoice, 'where they stand', { optional: true })
  @IsOptional()
  @IsIn(TASK_STATUSES)
  status?: TaskStatus | null;

  @ApiField.oneOf(MediaKindChoice, 'what they make', { optional: true })
  @IsOptional()
  @IsIn(MEDIA_KINDS)
  kind?: MediaKind | null;

  @ApiField.string('id of their model', { optional: true })
  @IsOptional()
  @IsString()
  model?: string | null;

  @ApiField.integer('created after this time, unix seconds', { optional: true })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_INT)
  created_after?: number | null;

  @ApiField.integer('created before this time, unix seconds', { optional: true })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_INT)
  created_before?: number | null;

  @ApiField.map('pairs of texts that they carry', { optional: true })
  @IsOptional()
  @IsObject()
  metadata?: Record<string, string> | null;

  /** @throws ApiError invalid_type when a metadata value is no text */
  toFilter(): TaskFilter {
    for (const [key, value] of Object.entries(this.metadata ?? {})) {
      const param = `filter.metadata.${key}`;
      if (typeof value !== 'string')
        throw new ApiError('invalid_type', { param, message: `${param} must be a string.` });
    }
    return {
      status: this.status ?? undefined,
      kind: this.kind ?? undefined,
      model: this.model ?? undefined,
      createdAfter: this.created_after ?? undefined,
      createdBefore: this.created_before ?? undefined,
      metadata: this.metadata ?? undefined,
    };
  }
}
