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

  it('would be refused for a key that keeps writers waiting', () => {
    const { status, output } = lint('Baseline1700000000043');
    expect(output).toMatch(/Baseline1700000000043\.sql:\d+:\d+: warning: adding-serial-primary-key-field/);
    expect(status).toBe(1);
  });

  it('is not taken for linted when there is no such migration', () => {
    expect(lint('Batches')).toMatchObject({
      status: 1,
      output: expect.stringContaining('There is no migration Batches'),
    });
  });
});
