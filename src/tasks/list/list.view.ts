import { ApiField } from '../../platform/schema/api-field.ts';
import { TaskView } from '../task.view.ts';

/** A page of tasks, newest first. */
export class TaskListView {
  @ApiField.string('always "list"') object: 'list';
  @ApiField.list(() => TaskView, 'the tasks') data: TaskView[];
  @ApiField.boolean('whether an older page follows') has_more: boolean;
  @ApiField.string('id of the first task of this page', { nullable: true }) first_id: string | null;
  @ApiField.string('id of the last; give it as `after` for the next page', { nullable: true }) last_id: string | null;
}
