import { ResumePoint } from './resume-point.ts';
import type { Task } from '../record/task.entity.ts';

const NOW = 1_795_000_000_000;
const idOf = (at: number) => `task_01jd8e5t9kf3qs7m2v${String(at).padStart(8, '0')}`;
const ended = (at: number, ms: number) => ({ id: idOf(at), completed_at: new Date(ms) }) as Task;
const reparsed = (point: ResumePoint) => ResumePoint.parse(point.toString())!;

describe('a resume point', () => {
  it('moves with every end that was sent, and survives the round trip through the client', () => {
    const point = ResumePoint.at(NOW);
    point.advance({ id: idOf(1), completed_at: null } as Task);
    expect(reparsed(point).sinceMs).toBe(NOW - 30_000);
    point.advance(ended(2, NOW + 5_000));
    expect(reparsed(point).sinceMs).toBe(NOW - 25_000);
    expect(reparsed(point).toString()).toBe(point.toString());
  });

  it('lists the ends sent within its overlap, so that none is sent twice', () => {
    const point = ResumePoint.at(NOW);
    point.advance(ended(1, NOW + 1_000));
    point.advance(ended(2, NOW + 29_000));
    point.advance(ended(3, NOW + 32_000));
    const resumed = reparsed(point);
    expect([1, 2, 3, 4].filter((at) => resumed.includes(idOf(at)))).toEqual([2, 3]);
  });

  it('stays short', () => {
    const point = ResumePoint.at(NOW);
    for (let at = 0; at < 1_000; at++) point.advance(ended(at, NOW + at));
    expect(point.toString().length).toBeLessThan(130);
    expect(reparsed(point).includes(idOf(999))).toBe(true);
  });

  it.each([undefined, '', '7!', 'task_1', '1.2', 'zzzzzzzzzzz', '-5', 'k3.'.repeat(9)])('ignores %j', (text) => {
    expect(ResumePoint.parse(text)).toBeNull();
  });
});
