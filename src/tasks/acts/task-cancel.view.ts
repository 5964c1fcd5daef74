import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';

const CANCEL_OUTCOMES = ['cancelled', 'already_final', 'not_found'] as const;
export type CancelOutcome = (typeof CANCEL_OUTCOMES)[number];
const CancelOutcomeChoice = defineChoice('CancelOutcome', CANCEL_OUTCOMES, 'Outcome of a request to cancel a task.');

@ObjectType('TaskCancel', { description: 'Outcome of a request to cancel one of several tasks.' })
export class TaskCancelView {
  @ApiField.string('identifier, as given') task_id: string;
  @ApiField.oneOf(CancelOutcomeChoice, 'outcome of the request') outcome: CancelOutcome;
}

/** How many tasks of a request had each outcome. */
export class CancelCountsView {
  @ApiField.integer('tasks that this request has cancelled') cancelled: number;
  @ApiField.integer('tasks that had ended already') already_final: number;
  @ApiField.integer('ids that belong to no task of yours') not_found: number;
}

export function toCounts(cancels: readonly TaskCancelView[]): CancelCountsView {
  const counts: CancelCountsView = { cancelled: 0, already_final: 0, not_found: 0 };
  for (const { outcome } of cancels) counts[outcome] += 1;
  return counts;
}
