import { filterOf, matches } from './task-filter.ts';
import type { TaskRow } from './task-store.ts';

const row = {
  status: 'RUNNING',
  kind: 'IMAGE',
  model: 'gpt-image-2',
  createdAt: 100,
  prompt: 'A Lighthouse at dusk',
} as TaskRow;

describe('the filter of a list', () => {
  it('comes from the address, without what is misspelt there', () => {
    expect(filterOf({ status: 'running', kind: 'image', model: 'sora-2', from: '5' })).toEqual({
      statuses: ['RUNNING'],
      kind: 'IMAGE',
      model: 'sora-2',
      createdAfter: 5,
    });
    expect(filterOf({ status: 'queued,running,lost' })).toEqual({ statuses: ['QUEUED', 'RUNNING'] });
    expect(filterOf({ status: 'lost', kind: 'sound', from: 'monday' })).toEqual({});
    expect(filterOf({ from: '1e99', to: '-5' })).toEqual({});
  });

  it('tells what was cancelled from what failed', () => {
    expect(filterOf({ status: 'failed' })).toEqual({ statuses: ['FAILED'], cancelled: false });
    expect(filterOf({ status: 'cancelled' })).toEqual({ statuses: ['FAILED'], cancelled: true });
    expect(filterOf({ status: 'failed,cancelled' })).toEqual({ statuses: ['FAILED'] });
    const cancelled = { ...row, status: 'FAILED', error: { code: 'TASK_CANCELLED' } } as TaskRow;
    expect(matches(cancelled, filterOf({ status: 'cancelled' }))).toBe(true);
    expect(matches(cancelled, filterOf({ status: 'failed' }))).toBe(false);
  });

  it('takes an error and pairs of metadata from the address', () => {
    const filter = filterOf({ error: 'provider_timeout', 'meta.order': '1042', 'meta.': 'no name' });
    expect(filter).toEqual({ errorCode: 'PROVIDER_TIMEOUT', metadata: { order: '1042' } });
    expect(filterOf({ error: 'bad_luck' })).toEqual({});
    const failed = { ...row, error: { code: 'PROVIDER_TIMEOUT' } } as TaskRow;
    expect([matches(row, filter), matches(failed, filter)]).toEqual([false, true]);
  });

  it('finds what is kept, by its collection too', () => {
    expect(filterOf({ kept: '1', collection: 'Covers' })).toEqual({ kept: true, collection: 'Covers' });
    expect(filterOf({ kept: 'no', collection: '' })).toEqual({});
    const kept = { ...row, kept: true, collection: null, outputs: [{ collection: 'Covers' }] } as TaskRow;
    const filters = [{ kept: '1' }, { collection: 'Covers' }, { collection: 'Other' }].map(filterOf);
    expect(filters.map((filter) => matches(kept, filter))).toEqual([true, true, false]);
    expect(matches({ ...kept, kept: false }, filterOf({ kept: '1' }))).toBe(false);
  });

  it('decides as the service does whether a new task belongs into the list', () => {
    expect(matches(row, {})).toBe(true);
    expect(matches(row, filterOf({ status: 'running', from: '99', to: '101' }))).toBe(true);
    expect(matches(row, filterOf({ q: 'dusk lighthouse' }))).toBe(true);
    expect(matches(row, filterOf({ q: 'dusk harbour' }))).toBe(false);
    expect(matches(row, filterOf({ status: 'queued' }))).toBe(false);
    expect(matches(row, filterOf({ from: '100' }))).toBe(false);
  });
});
