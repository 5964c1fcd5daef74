import { Args, Mutation, Resolver } from '@nestjs/graphql';
import { CountsAs, RequireScope } from '../../auth/access/access.ts';
import { type Actor, CurrentActor } from '../../auth/audit/actor.ts';
import { KeepTasks } from '../acts/keep-tasks.ts';
import { TaskViews } from '../read/task-views.ts';
import { TaskView } from '../read/task.view.ts';
import { Collection } from './keep.inputs.ts';

const TaskId = (): ParameterDecorator => Args('taskId', { type: () => String, description: 'identifier of the task' });

@Resolver()
export class KeepTasksResolver {
  constructor(
    private readonly keeps: KeepTasks,
    private readonly views: TaskViews,
  ) {}

  @Mutation(() => TaskView, {
    description: 'Keeps a final task and its files: they are not deleted when their retention ends.',
  })
  @RequireScope('generations:write')
  @CountsAs('create')
  async keepTask(
    @CurrentActor() actor: Actor,
    @TaskId() taskId: string,
    @Collection() collection?: string | null,
  ): Promise<TaskView> {
    const name = collection ?? null;
    return this.views.forGraphql(await this.keeps.keep(actor, { taskId, output: null }, name));
  }

  @Mutation(() => TaskView, {
    description: 'Stops keeping a task with its files: they are deleted when their retention ends.',
  })
  @RequireScope('generations:write')
  @CountsAs('create')
  async unkeepTask(@CurrentActor() actor: Actor, @TaskId() taskId: string): Promise<TaskView> {
    return this.views.forGraphql(await this.keeps.giveUp(actor, { taskId, output: null }));
  }
}
