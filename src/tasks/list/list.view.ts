import { ApiField } from '../../platform/schema/api-field.ts';
import { TaskView } from '../task.view.ts';

/** A page of tasks, newest first. */
export class TaskListView {
  @ApiField.string('always "list"') object: 'list';
  @ApiField.list(() => TaskView, 'the tasks') data: TaskView[];
  @ApiField.boolean('whether there is a page of older tasks') has_more: boolean;
  @ApiField.string('id of the first task on this page', { nullable: true }) first_id: string | null;
  @ApiField.string('id of the last task on this page; send it as `after` to get the next page', { nullable: true })
  last_id: string | null;
}
