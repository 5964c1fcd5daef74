import type { QueryRunner } from 'typeorm';
import { buildIndex } from './build-index.ts';

describe('the build of an index', () => {
  it('leaves the connection as it was, also when it fails', async () => {
    const sent: string[] = [];
    const query = (text: string) => {
      sent.push(text);
      return text.startsWith('create') ? Promise.reject(new Error('canceled')) : Promise.resolve([]);
    };
    const building = buildIndex({ query } as QueryRunner, 'one', 'create index concurrently one on t (a)');
    await expect(building).rejects.toThrow('canceled');
    expect(sent.slice(1)).toEqual([
      `set lock_timeout = '30s'`,
      'drop index concurrently if exists one',
      'create index concurrently one on t (a)',
      'reset lock_timeout',
    ]);
  });
});
