import { connectionOf } from '../../platform/graphql/connection.ts';
import { TaskView } from '../read/task.view.ts';

export const TaskConnection = connectionOf(TaskView, 'Task');
