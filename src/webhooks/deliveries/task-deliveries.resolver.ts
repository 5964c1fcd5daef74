import { Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { CurrentCaller } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { TaskView } from '../../tasks/read/task.view.ts';
import { DeliveriesOfTasks, MAX_OF_TASK } from '../sql/deliveries-of-tasks.ts';
import { toDeliveryView, WebhookDeliveryView } from './delivery.view.ts';

@Resolver(() => TaskView)
export class TaskDeliveriesResolver {
  constructor(private readonly lists: DeliveriesOfTasks) {}

  /** Without the scope `webhooks:manage` this field is null, not an error, so that one document serves every key. */
  @ResolveField(() => [WebhookDeliveryView], {
    nullable: true,
    description: `The attempts to send the events of the task, newest first, at most ${MAX_OF_TASK}; null without webhooks:manage.`,
  })
  async webhookDeliveries(
    @CurrentCaller() caller: Caller,
    @Parent() { task_id: taskId }: TaskView,
  ): Promise<WebhookDeliveryView[] | null> {
    if (!caller.scopes.includes('webhooks:manage')) return null;
    return (await this.lists.find({ apiKeyId: caller.apiKeyId, taskId })).map(toDeliveryView);
  }
}
