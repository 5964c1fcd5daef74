import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { OBJECTIVES } from '../activity/objectives.ts';

const OBJECTIVE_STATES = ['quiet', 'met', 'burning', 'burning_fast'] as const;
type ObjectiveState = (typeof OBJECTIVE_STATES)[number];

/** As in the alerts, this many events or fewer say nothing about an objective. */
const LEAST_EVENTS = 30;
/** At this burn rate, the budget of 30 days is used up in two. */
const FAST = 14.4;

const NameChoice = defineChoice(
  'ObjectiveName',
  OBJECTIVES.map(({ name }) => name),
  'What an objective is about: see the rules of Prometheus.',
);
const StateChoice = defineChoice('ObjectiveState', OBJECTIVE_STATES, 'How an objective is met in the last hour.');

@ObjectType('Objective', { description: 'A service level objective, and how it is met in the last hour.' })
export class ObjectiveView {
  @ApiField.oneOf(NameChoice, 'what it is about') name: string;
  @ApiField.number('part of the events that must be good, such as 0.999') objective: number;
  @ApiField.integer('events of the last hour') events: number;
  @ApiField.integer('the bad ones among them') bad: number;
  @ApiField.number('how fast the error budget is used up: 1 is as fast as allowed; null without events', {
    nullable: true,
  })
  burn_rate: number | null;
  @ApiField.oneOf(
    StateChoice,
    '`burning`: faster than allowed. `burning_fast`: over 14.4 times as fast. `quiet`: 30 events or fewer',
  )
  state: ObjectiveState;
}

export function toObjectiveView({ name, events, bad }: { name: string; events: number; bad: number }): ObjectiveView {
  const { budget } = OBJECTIVES.find((objective) => objective.name === name)!;
  const burnRate = events === 0 ? null : bad / events / budget;
  return { name, objective: 1 - budget, events, bad, burn_rate: burnRate, state: stateOf(events, burnRate ?? 0) };
}

function stateOf(events: number, burnRate: number): ObjectiveState {
  if (events <= LEAST_EVENTS) return 'quiet';
  if (burnRate <= 1) return 'met';
  return burnRate > FAST ? 'burning_fast' : 'burning';
}
