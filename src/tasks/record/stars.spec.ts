import { firstEndOf, giveUpOutputs, isThere, keepOutputs, keptBytes, type Stars } from './stars.ts';
import type { StoredOutput } from './task.entity.ts';

const [NOW, END, DAY] = [1_000, 2_000, 86_400];
const output = (index: number, more: Partial<StoredOutput> = {}): StoredOutput =>
  ({ id: `file_${index}`, index, size_bytes: 10 ** index, ...more }) as StoredOutput;
const TWO: Stars = { result: [output(0), output(1)], kept: false, collection: null };
const TIMES = { filesEnd: END, nowS: NOW };

describe('the stars of a task', () => {
  it('keep all outputs, under one name', () => {
    const kept = keepOutputs(TWO, 'all', 'Covers', TIMES);
    expect(kept).toEqual({
      result: [output(0, { kept: true, collection: 'Covers' }), output(1, { kept: true, collection: 'Covers' })],
      kept: true,
      collection: 'Covers',
    });
    expect(keptBytes(kept.result)).toBe(11);
    expect(giveUpOutputs(kept, 'all', NOW + DAY)).toEqual(TWO);
  });

  it('keep one output, and the other one goes at its time', () => {
    const kept = keepOutputs(TWO, 1, null, TIMES);
    expect(kept).toEqual({
      result: [output(0, { expires_at: END }), output(1, { kept: true })],
      kept: true,
      collection: null,
    });
    expect([keptBytes(kept.result), firstEndOf(kept.result)]).toEqual([10, END]);
    expect(isThere(kept.result![0]!, 10 * END, END - 1)).toBe(true);
    expect(isThere(kept.result![0]!, 10 * END, END)).toBe(false);
  });

  it('give the task up with its last output', () => {
    const kept = keepOutputs(TWO, 'all', 'Covers', TIMES);
    const one = giveUpOutputs(kept, 0, NOW + DAY);
    expect(one).toMatchObject({ kept: true, collection: 'Covers', result: [output(0, { expires_at: NOW + DAY }), {}] });
    const none = giveUpOutputs(one, 1, NOW + DAY);
    expect(none).toEqual({
      result: [output(0, { expires_at: NOW + DAY }), output(1)],
      kept: false,
      collection: null,
    });
  });

  it('change nothing where there is none to give up', () => {
    const kept = keepOutputs(TWO, 1, 'Covers', TIMES);
    expect(giveUpOutputs(kept, 0, NOW + DAY)).toEqual(kept);
    expect(giveUpOutputs(TWO, 0, NOW + DAY)).toEqual(TWO);
  });

  it('leave what is gone as it is', () => {
    const gone: Stars = { ...TWO, result: [output(0, { deleted: true }), output(1)] };
    expect(keepOutputs(gone, 'all', null, TIMES).result).toEqual([gone.result![0], output(1, { kept: true })]);
    const expired = keepOutputs(TWO, 'all', 'Late', { filesEnd: NOW - 1, nowS: NOW });
    expect(expired).toEqual({ result: TWO.result, kept: true, collection: 'Late' });
    expect(giveUpOutputs(expired, 'all', NOW + DAY)).toEqual(TWO);
  });

  it('keep the record of a task without files', () => {
    const failed: Stars = { result: null, kept: false, collection: null };
    const kept = keepOutputs(failed, 'all', null, { filesEnd: null, nowS: NOW });
    expect(kept).toEqual({ ...failed, kept: true });
    expect(giveUpOutputs(kept, 'all', NOW + DAY)).toEqual(failed);
  });

  it('of an output that is kept again have no end', () => {
    const kept = keepOutputs(TWO, 1, null, TIMES);
    expect(keepOutputs(kept, 0, 'Later', TIMES).result).toEqual([
      output(0, { kept: true, collection: 'Later' }),
      output(1, { kept: true }),
    ]);
  });
});
