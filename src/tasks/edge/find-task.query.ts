import { ApiField } from '../../platform/schema/api-field.ts';
import { MAX_WAIT_S } from '../live/waits.ts';

/** Query string of `GET /v1/tasks/{task_id}`. */
export class FindTaskQuery {
  @ApiField.integer('seconds to wait for the task to end; with If-None-Match, for any change', {
    optional: true,
    min: 0,
    max: MAX_WAIT_S,
    fromQuery: true,
  })
  wait?: number;
}
