import { ApiProperty } from '@nestjs/swagger';
import { BudgetStatusView } from '../../auth/limits/budget.view.ts';
import { refTo } from '../../platform/schema/component.ts';
import { WebhookBody } from '../../platform/openapi/webhooks.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { FAILED_IN_EVENT, SUCCEEDED_IN_EVENT } from '../../tasks/read/task.view.ts';
import { WebhookEndpointView } from './endpoint.view.ts';
import type { AnyEventType } from '../record/event-type.ts';

interface EventBody {
  id: string;
  object: 'event';
  type: AnyEventType;
  created_at: number;
  timestamp: string;
}

/**
 * Makes a class with the fields that begin the body of every event. The class of an event extends it: `class
 * TaskFailedEvent extends eventOf('task.failed')`.
 */
export function eventOf(type: AnyEventType): new () => EventBody {
  class Body implements EventBody {
    @ApiField.string('identifier, the same at every attempt', { example: 'evt_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
    @ApiField.constant('event') object: 'event';
    @ApiField.constant(type) type: AnyEventType;
    @ApiField.long('unix seconds') created_at: number;
    @ApiField.string('the same time in ISO 8601', { example: '2026-11-22T10:00:00.000Z' }) timestamp: string;
  }
  return Body;
}

const TASK =
  'the task, as `GET /v1/tasks/{task_id}` shows it; a body of more than 20 kB leaves out `input`, then `metadata`';

@WebhookBody('task.completed', 'A task has succeeded')
export class TaskCompletedEvent extends eventOf('task.completed') {
  @ApiProperty({ allOf: [refTo(SUCCEEDED_IN_EVENT)], description: TASK }) data: object;
}

@WebhookBody('task.failed', 'A task has failed, or was cancelled')
export class TaskFailedEvent extends eventOf('task.failed') {
  @ApiProperty({ allOf: [refTo(FAILED_IN_EVENT)], description: TASK }) data: object;
}

export class BudgetReportView extends BudgetStatusView {
  @ApiField.constant('budget') object: 'budget';
  @ApiField.string('the key whose budget it is') api_key_id: string;
  @ApiField.long('the budget in micro-units of the currency') amount_micros: number;
}

@WebhookBody('budget.threshold_reached', 'The soft threshold of a budget is reached')
export class BudgetThresholdReachedEvent extends eventOf('budget.threshold_reached') {
  @ApiField.object(() => BudgetReportView, 'how much of the budget is used') data: BudgetReportView;
}

@WebhookBody('budget.exceeded', 'A creation was refused because of the budget')
export class BudgetExceededEvent extends eventOf('budget.exceeded') {
  @ApiField.object(() => BudgetReportView, 'how much of the budget is used') data: BudgetReportView;
}

@WebhookBody('webhook.test', 'Somebody tests the endpoint')
export class WebhookTestEvent extends eventOf('webhook.test') {
  @ApiField.object(() => WebhookEndpointView, 'the endpoint') data: WebhookEndpointView;
}

export const EVENT_BODIES = [
  TaskCompletedEvent,
  TaskFailedEvent,
  BudgetThresholdReachedEvent,
  BudgetExceededEvent,
  WebhookTestEvent,
];
