import { lossNote, type Replication } from './replication-report.ts';

const given: Replication = {
  synchronousStandbyNames: 'ANY 1 (b, c)',
  synchronousCommit: 'on',
  standbys: [
    { name: 'b', sync_state: 'quorum' },
    { name: 'c', sync_state: 'quorum' },
  ],
};

describe('what a failover may lose', () => {
  it('is nothing with two synchronous standbys', () => {
    expect(lossNote(given)).toBe('synchronous: b, c');
  });

  it.each<[string, Partial<Replication>, string]>([
    ['no name', { synchronousStandbyNames: '' }, 'WARNING no standby is synchronous'],
    ['commits that do not wait', { synchronousCommit: 'local' }, 'WARNING synchronous_commit is local'],
    ['no standby', { standbys: [{ name: 'd', sync_state: 'async' }] }, 'WARNING commits wait for ANY 1 (b, c), and no'],
    ['one standby', { standbys: [{ name: 'b', sync_state: 'sync' }] }, 'b. WARNING without it every creation gets 503'],
    ['a role that may not see', { standbys: [{ name: null, sync_state: null }] }, 'members of pg_monitor'],
  ])('is told with %s', (_, changed, note) => {
    expect(lossNote({ ...given, ...changed })).toContain(note);
  });
});
