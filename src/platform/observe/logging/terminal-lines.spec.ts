import { PassThrough } from 'node:stream';
import { readable } from './terminal-lines.ts';

const IDENTITY = { service: 'darkroom', version: '1.2.3', role: 'all', process: 'host-1-ab' };
const TIME = '2026-11-22T18:04:34.123Z';
/** Without colours: it is no terminal. */
const show = (fields: object): string =>
  readable(JSON.stringify({ level: 'info', time: TIME, ...IDENTITY, ...fields }), new PassThrough());
const clock = new Date(TIME).toTimeString().slice(0, 8);

describe('a line of the log on a terminal', () => {
  it('is aligned, and leaves out what is the same on each', () => {
    expect(show({ context: 'tasks', event: 'task.moved', task_id: 'task_1', ms: 3, code: 'a b', actor_id: null })).toBe(
      `${clock} info  tasks        task.moved task_id=task_1 ms=3 code="a b"\n`,
    );
    expect(show({ level: 'warn', msg: 'slow' })).toBe(`${clock} warn               slow\n`);
  });

  it('shows an error with its stack', () => {
    const err = { type: 'TypeError', message: 'no', stack: 'TypeError: no\n    at a (b.ts:1:2)' };
    expect(show({ level: 'error', context: 'generate', event: 'x.failed', err })).toBe(
      `${clock} error generate     x.failed TypeError: no\n    at a (b.ts:1:2)\n`,
    );
  });

  it('leaves out finished requests, but not those that need attention', () => {
    const request = { context: 'requests', event: 'request.finished', status: 500 };
    expect(show(request)).toBe('');
    expect(show({ ...request, level: 'error' })).toContain('status=500');
  });

  it('lets no text steer the terminal', () => {
    const evil = '\u001b[2J\u009b2J\u202eevil\nnext';
    const line = show({ msg: evil, note: evil, err: { type: evil, message: evil }, level: 'error', stack: evil });
    expect(line.match(/[\p{Cc}\p{Cf}]/gu)).toEqual(['\n']);
  });
});
