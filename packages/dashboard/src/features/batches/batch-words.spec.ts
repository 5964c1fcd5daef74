import { countWords, nameOf, newerOf } from './batch-words.ts';
import type { Batch } from './batches.documents.ts';

const counts = { queued: 2, running: 1, succeeded: 3, failed: 1, cancelled: 0, invalid: 0 };
const batch = { counts, requestCounts: { total: 7 }, metadata: {} } as unknown as Batch;

it('says what became of the items, and leaves out what is not there', () => {
  expect(countWords(batch)).toBe('3 of 7 items succeeded, 1 failed, 1 running, 2 queued');
});

it('shows the newer of two states, in whatever order they come', () => {
  const at = (queued: number, running: number, status = 'IN_PROGRESS') =>
    ({ ...batch, status, counts: { ...counts, queued, running } }) as Batch;
  const states = [at(3, 0), at(2, 1), at(2, 0), at(1, 1), at(0, 1), at(0, 0), at(0, 0, 'COMPLETED')];
  for (const [nth, older] of states.entries()) {
    for (const newer of states.slice(nth)) {
      expect(newerOf(older, newer)).toEqual(newer);
      expect(newerOf(newer, older)).toEqual(newer);
    }
  }
});

it('is named by its metadata, if that says more than nothing', () => {
  expect(nameOf({ ...batch, metadata: { name: 'spring' } })).toBe('spring');
  expect(nameOf({ ...batch, metadata: { name: ' ' } })).toBeNull();
  expect(nameOf(batch)).toBeNull();
});
