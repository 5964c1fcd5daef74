import { allocateOwned } from '../../platform/run/owned-bytes.ts';
import { FreshOutputs } from './fresh-outputs.ts';

const MIB = 1024 * 1024;

describe('files that a request waits for', () => {
  it('are kept until the last of its waiters is done, and then freed', () => {
    const fresh = new FreshOutputs();
    const done = [fresh.want('task'), fresh.want('task')];
    const file = allocateOwned(5);
    expect(fresh.keep('task', 'task/1-0.png', file)).toBe(true);
    done[0]!();
    expect(fresh.find('task', 'task/1-0.png')).toBe(file);
    expect(file).toHaveLength(5);
    done[1]!();
    expect(fresh.find('task', 'task/1-0.png')).toBeNull();
    expect(file).toHaveLength(0);
  });

  it('stay with the caller when nobody waits, or when they are on disk', () => {
    const fresh = new FreshOutputs();
    expect(fresh.keep('task', 'task/1-0.png', allocateOwned(5))).toBe(false);
    fresh.want('film');
    expect(fresh.keep('film', 'film/1-0.mp4', { path: '/tmp/film' })).toBe(false);
    expect(fresh.find('film', 'film/1-0.mp4')).toBeNull();
  });

  it('take 64 MiB at most, all tasks together', () => {
    const fresh = new FreshOutputs();
    const done = fresh.want('a');
    fresh.want('b');
    expect(fresh.keep('a', 'a/1-0.png', allocateOwned(40 * MIB))).toBe(true);
    expect(fresh.keep('b', 'b/1-0.png', allocateOwned(40 * MIB))).toBe(false);
    done();
    expect(fresh.keep('b', 'b/1-0.png', allocateOwned(40 * MIB))).toBe(true);
  });
});
