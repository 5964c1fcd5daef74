import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Secrets } from '../../platform/secrets.ts';
import { DAY_S } from '../../platform/time.ts';
import { type Addition, EndTasks } from '../../tasks/sql/end-tasks.ts';
import { FileLinks } from '../../tasks/files/file-links.ts';
import type { Task } from '../../tasks/task.entity.ts';
import { toTaskView } from '../../tasks/task.view.ts';
import { DispatchEvents, type NewEvent } from '../sql/dispatch-events.ts';
import { DeliverySignal } from '../deliveries/delivery-signal.ts';
import { eventTypeOf, taskEventBody } from './event-body.ts';
import { newEventId } from '../webhook-id.ts';

/**
 * Writes the event of a task's end, and who is to be told, in the transaction that ends it: whoever sees the one sees
 * the other, and no crash can part them.
 */
@Injectable()
export class TaskEndRecorder implements OnModuleInit {
  /**
   * The bytes of a body never change, and the last attempt comes long after FILE_URL_TTL_S. So the links in it work as
   * long as the files are there.
   */
  private readonly links: FileLinks;

  constructor(
    private readonly ends: EndTasks,
    private readonly acts: DispatchEvents,
    private readonly bell: DeliverySignal,
    config: Config,
    secrets: Secrets,
  ) {
    this.links = new FileLinks(
      secrets.derive('file-links'),
      config.publicUrl,
      Math.ceil(config.fileRetentionDays * DAY_S),
    );
  }

  onModuleInit(): void {
    this.ends.accompany(async (tx, apiKeyIds) => {
      const taken = await this.acts.taken(tx, apiKeyIds);
      return taken.size === 0 ? null : (ended) => this.additionTo(ended, taken);
    });
  }

  private additionTo(ended: Task[], taken: Set<string>): Addition | null {
    const told = ended.filter((task) => taken.has(`${task.api_key_id} ${eventTypeOf(task)}`));
    if (told.length === 0) return null;
    return {
      statement: this.acts.dispatch(told.map((task) => this.eventOf(task))),
      afterCommit: (endpoints) => this.bell.notify((endpoints as { id: string }[]).map(({ id }) => id)),
    };
  }

  private eventOf(task: Task): NewEvent {
    const id = newEventId();
    const created_at = task.completed_at ?? new Date();
    return {
      id,
      api_key_id: task.api_key_id,
      task_id: task.id,
      type: eventTypeOf(task),
      body: taskEventBody(id, toTaskView(task, this.links), created_at),
      created_at,
      expires_at: task.expires_at,
    };
  }
}
