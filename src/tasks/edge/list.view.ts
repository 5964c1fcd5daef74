import { listOf } from '../../platform/schema/list-of.ts';
import { TaskView } from '../read/task.view.ts';

export class TaskListView extends listOf(TaskView, 'the tasks, newest first unless the request says otherwise') {}
