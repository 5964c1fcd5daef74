import { ObjectType } from '@nestjs/graphql';
import type { Config } from '../platform/config/config.ts';
import { HTTP_LIMITS } from '../platform/http/limits.ts';
import { ApiField } from '../platform/schema/api-field.ts';
import { VERSION } from '../platform/config/version.ts';

@ObjectType('About', { description: 'What this service is, and the rules that it runs by.' })
export class AboutView {
  @ApiField.constant('about') object: 'about';
  @ApiField.string('version of the program') version: string;
  @ApiField.number('unix seconds with milliseconds, to correct the clock of a client') server_time: number;
  @ApiField.string('base of all links') public_url: string;
  @ApiField.number('days after which a final task is deleted') task_retention_days: number;
  @ApiField.number('days after which the files of a task are deleted') file_retention_days: number;
  @ApiField.integer('seconds that a signed link works') file_url_ttl_s: number;
  @ApiField.long('most bytes of an uploaded image') max_upload_bytes: number;
  @ApiField.list('number', 'seconds between the attempts to deliver a webhook') webhook_schedule_s: number[];
  @ApiField.boolean('whether /graphiql is served') graphiql: boolean;
}

export const toAboutView = (config: Config): AboutView => ({
  object: 'about',
  version: VERSION,
  server_time: Date.now() / 1000,
  public_url: config.publicUrl,
  task_retention_days: config.taskRetentionDays,
  file_retention_days: config.fileRetentionDays,
  file_url_ttl_s: config.fileUrlTtlS,
  max_upload_bytes: HTTP_LIMITS.uploads.fileBytes,
  webhook_schedule_s: [...config.webhookRetryScheduleS],
  graphiql: config.graphqlIntrospection,
});
