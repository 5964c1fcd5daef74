import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Secrets } from '../../platform/config/secrets.ts';
import { DAY_S } from '../../platform/schema/time.ts';
import { isRestored, type ShownTask } from '../../tasks/record/task.entity.ts';
import type { EndWrite } from '../../tasks/record/ending.ts';
import { TaskQueue } from '../../tasks/queue/task-queue.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { toTaskView } from '../../tasks/read/task.view.ts';
import { UsageTerms } from '../../tasks/record/usage-terms.ts';
import { InsertEvents, type NewEvent } from '../sql/insert-events.ts';
import { DeliverySignal } from '../deliveries/delivery-signal.ts';
import { eventTypeOf, taskEventBody } from '../record/event-body.ts';
import { newEventId } from '../record/webhook-id.ts';

/**
 * Writes the event of an ended task and its dispatches in the transaction that ends the task. So a reader that sees the
 * end also sees the event, and a crash cannot separate them.
 */
@Injectable()
export class TaskEndRecorder implements OnModuleInit {
  /**
   * Signs the links in bodies. The body of an event never changes, and its last attempt may come long after
   * FILE_URL_TTL_S. So these links are valid for as long as files are kept by default.
   */
  private readonly links: FileLinks;

  constructor(
    private readonly queue: TaskQueue,
    private readonly insert: InsertEvents,
    private readonly signal: DeliverySignal,
    private readonly terms: UsageTerms,
    private readonly config: Config,
    secrets: Secrets,
  ) {
    this.links = new FileLinks(
      secrets.deriveAll('file-links'),
      config.publicUrl,
      Math.ceil(config.fileRetentionDays * DAY_S),
    );
  }

  onModuleInit(): void {
    this.queue.registerEndHook(async (tx, apiKeyIds) => {
      const subscriptions = await this.insert.subscriptions(tx, apiKeyIds);
      return subscriptions.size === 0 ? null : (ended) => this.additionTo(ended, subscriptions);
    });
  }

  private additionTo(ended: ShownTask[], subscriptions: Set<string>): EndWrite | null {
    const tasks = ended.filter(
      (task) => task.task_events && subscriptions.has(`${task.api_key_id} ${eventTypeOf(task)}`),
    );
    if (tasks.length === 0) return null;
    return {
      statement: this.insert.statement(tasks.map((task) => this.eventOf(task))),
      afterCommit: (endpoints) => this.signal.notify((endpoints as { id: string }[]).map(({ id }) => id)),
    };
  }

  private eventOf(task: ShownTask): NewEvent {
    const id = newEventId();
    const created_at = task.completed_at ?? new Date();
    return {
      id,
      api_key_id: task.api_key_id,
      task_id: task.id,
      type: eventTypeOf(task),
      body: taskEventBody(id, toTaskView(task, this.links, this.terms), created_at),
      created_at,
      expires_at: task.expires_at,
      held: isRestored(this.config, task.created_at),
    };
  }
}
