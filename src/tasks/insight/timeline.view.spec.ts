import { taskError } from '../record/task-error.ts';
import type { TimelineRow } from '../sql/read-timelines.ts';
import type { Moment } from '../record/moment.ts';
import { toTimeline } from './timeline.view.ts';

const ROW: TimelineRow = {
  id: 'task_1',
  api_key_id: 'key_1',
  status: 'running',
  attempt: 1,
  created_at: new Date(1_000),
  started_at: new Date(2_000),
  completed_at: null,
  error: null,
  timeline: null,
};
const STORED: Moment[] = [
  [1_500, 'held', 0, null, 'key_limit'],
  [1_800, 'released', 0, null, null],
  [2_500, 'submitting', 1, 'openai', null],
];
const typesOf = (row: TimelineRow) => toTimeline(row, true).map(({ type }) => type);

describe('the timeline of a task', () => {
  it('holds what other columns say, in order of time', () => {
    expect(typesOf({ ...ROW, started_at: null, status: 'queued' })).toEqual(['queued']);
    expect(typesOf({ ...ROW, timeline: STORED })).toEqual(['queued', 'held', 'released', 'started', 'submitting']);
    expect(typesOf({ ...ROW, status: 'succeeded', completed_at: new Date(3_000) })).toEqual([
      'queued',
      'started',
      'succeeded',
    ]);
  });

  it('starts the task after its release, also when the claim began before it', () => {
    for (const startedMs of [1_795, 1_800]) {
      const row = { ...ROW, timeline: STORED, started_at: new Date(startedMs) };
      expect(typesOf(row)).toEqual(['queued', 'held', 'released', 'started', 'submitting']);
    }
  });

  it('begins with the creation, also when a claim by another clock seems to come before it', () => {
    const moments = toTimeline({ ...ROW, started_at: new Date(998) }, true);
    expect(moments.map(({ type, at_ms }) => [type, at_ms])).toEqual([
      ['queued', 1_000],
      ['started', 1_000],
    ]);
  });

  it('shows why a task failed, and a cancel as a wish and its effect', () => {
    const ended = { ...ROW, status: 'failed' as const, completed_at: new Date(3_000), attempt: 2 };
    expect(toTimeline({ ...ended, error: taskError('provider_timeout') }, true).at(-1)).toEqual({
      at_ms: 3_000,
      type: 'failed',
      attempt: 2,
      provider: null,
      detail: 'provider_timeout',
    });
    expect(typesOf({ ...ended, error: taskError('task_cancelled') }).slice(-2)).toEqual(['cancel_requested', 'failed']);
  });

  it('hides providers', () => {
    const shown = toTimeline({ ...ROW, timeline: STORED }, false);
    expect(shown.map(({ provider }) => provider)).toEqual(Array(5).fill(null));
  });

  it('leaves out the middle of a long one', () => {
    const timeline = Array.from({ length: 250 }, (_, nth): Moment => [3_000 + nth, 'refused', nth, null, null]);
    const shown = toTimeline({ ...ROW, timeline }, true);
    expect(shown).toHaveLength(200);
    expect([shown[0]!.type, shown[99]!.attempt, shown[100]!.attempt, shown.at(-1)!.attempt]).toEqual([
      'queued',
      97,
      150,
      249,
    ]);
  });
});
