import { spawnSync } from 'node:child_process';

const SCRIPT = new URL('../../scripts/lint-migrations.ts', import.meta.url).pathname;

function lint(...names: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...names], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('the SQL of migrations', () => {
  it('has no fault that squawk finds', () => {
    expect(lint()).toEqual({
      status: 0,
      output: expect.stringMatching(/^The SQL of [1-9]\d* migrations has no fault/),
    });
  });

  it('would be refused for an index that keeps writers waiting', () => {
    const { status, output } = lint('Batches1700000000021');
    expect(output).toContain('Batches1700000000021.sql:6:0: warning: require-concurrent-index-creation');
    expect(status).toBe(1);
  });

  it('is not taken for linted when there is no such migration', () => {
    expect(lint('Batches')).toMatchObject({
      status: 1,
      output: expect.stringContaining('There is no migration Batches'),
    });
  });
});
