import { ResumePoint } from './resume-point.ts';
import type { Task } from '../task.entity.ts';

const NOW = 1_795_000_000_000;
const idOf = (at: number) => `task_01jd8e5t9kf3qs7m2v${String(at).padStart(8, '0')}`;
const ended = (at: number, ms: number) => ({ id: idOf(at), completed_at: new Date(ms) }) as Task;
const again = (point: ResumePoint) => ResumePoint.parse(point.toString())!;

describe('a resume point', () => {
  it('moves with every end that was told, and survives the trip to the client and back', () => {
    const point = ResumePoint.at(NOW);
    point.pass({ id: idOf(1), completed_at: null } as Task);
    expect(again(point).sinceMs).toBe(NOW - 2_000);
    point.pass(ended(2, NOW + 5_000));
    expect(again(point).sinceMs).toBe(NOW + 3_000);
    expect(again(point).toString()).toBe(point.toString());
  });

  it('names what was told within its overlap, so that nothing is told twice', () => {
    const point = ResumePoint.at(NOW);
    point.pass(ended(1, NOW + 1_000));
    point.pass(ended(2, NOW + 10_000));
    point.pass(ended(3, NOW + 11_000));
    const resumed = again(point);
    expect([1, 2, 3, 4].filter((at) => resumed.knows(idOf(at)))).toEqual([2, 3]);
  });

  it('stays short', () => {
    const point = ResumePoint.at(NOW);
    for (let at = 0; at < 1_000; at++) point.pass(ended(at, NOW + at));
    expect(point.toString().length).toBeLessThan(130);
    expect(again(point).knows(idOf(999))).toBe(true);
  });

  it.each([undefined, '', '7!', 'task_1', '1.2', 'zzzzzzzzzzz', '-5', 'k3.'.repeat(9)])('takes %j for none', (text) => {
    expect(ResumePoint.parse(text)).toBeNull();
  });
});
