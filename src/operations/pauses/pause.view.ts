import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { type Pause, PAUSE_KINDS, type PauseKind } from '../../tasks/record/pause.entity.ts';
import type { PauseWithTasks } from './sql/pause-rows.ts';

const KindChoice = defineChoice('PauseKind', PAUSE_KINDS, 'What a pause keeps tasks from.');

@ObjectType('Pause', {
  description: 'An operator has paused a model, a provider or one place of a provider: its tasks wait.',
})
export class PauseView {
  @ApiField.string('identifier') id: string;
  @ApiField.constant('pause') object: 'pause';
  @ApiField.oneOf(KindChoice, 'what is paused') kind: PauseKind;
  @ApiField.string('id of the paused model; null for the others', { nullable: true }) model: string | null;
  @ApiField.string('name of the paused provider; null for a model', { nullable: true }) provider: string | null;
  @ApiField.integer('number of the paused place; null for the others', { nullable: true }) place: number | null;
  @ApiField.string('why') reason: string;
  @ApiField.boolean('whether creations for `models` are refused with 503') refuse_creates: boolean;
  @ApiField.list('string', 'the models that start no tasks because of it') models: string[];
  @ApiField.integer('waiting tasks that it holds') tasks: number;
  @ApiField.long('unix seconds at which it ends by itself; null without', { nullable: true }) until: number | null;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.string('the API key that created it; null: the command line', { nullable: true }) created_by: string | null;
  @ApiField.long('unix seconds; null while it lasts', { nullable: true }) ended_at: number | null;
}

@ObjectType('EndedPause', { description: 'A pause that has ended.' })
export class EndedPauseView {
  @ApiField.string('identifier') id: string;
}

export const toPauseView = (pause: PauseWithTasks): PauseView => ({
  id: pause.id,
  object: 'pause',
  ...targetsOf(pause),
  reason: pause.reason,
  refuse_creates: pause.refuse_creates,
  models: pause.models,
  tasks: pause.tasks,
  until: pause.until && unixSeconds(pause.until),
  created_at: unixSeconds(pause.created_at),
  created_by: pause.created_by,
  ended_at: pause.ended_at && unixSeconds(pause.ended_at),
});

/** A pause as the audit shows it. */
export const snapshotOf = (pause: Pause): Record<string, unknown> => ({
  ...targetsOf(pause),
  reason: pause.reason,
  refuse_creates: pause.refuse_creates,
  until: pause.until && unixSeconds(pause.until),
});

/**
 * The target of a paused provider is the provider's name. The target of a paused place begins with that name and a
 * space.
 */
const targetsOf = ({ kind, target, place }: Pause) => ({
  kind,
  model: kind === 'model' ? target : null,
  provider: kind === 'model' ? null : (target.split(' ', 1)[0] ?? null),
  place,
});
