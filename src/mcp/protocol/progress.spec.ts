import { jest } from '@jest/globals';
import type { ServerContext } from '@modelcontextprotocol/server';
import type { ShownTask } from '../../tasks/record/task.entity.ts';
import { progressReports } from './progress.ts';

describe('the reports of progress', () => {
  const sent: unknown[] = [];
  const notify = async (notification: object) => void sent.push(notification);
  const reports = (meta: object) => {
    const report = progressReports({ mcpReq: { _meta: meta, notify } } as unknown as ServerContext);
    return (progress: number) => report({ status: 'running', progress } as ShownTask);
  };
  const message = (progress: number) => ({
    method: 'notifications/progress',
    params: { progressToken: 'mine', progress, total: 100, message: `Running, ${progress} %.` },
  });
  beforeEach(() => {
    sent.length = 0;
    jest.useFakeTimers();
  });
  afterEach(() => void jest.useRealTimers());

  it('rise, at most once a second', () => {
    const report = reports({ progressToken: 'mine' });
    report(0);
    report(10);
    jest.advanceTimersByTime(999);
    report(20);
    expect(sent).toEqual([message(0)]);
    jest.advanceTimersByTime(1);
    report(30);
    jest.advanceTimersByTime(5_000);
    report(30);
    report(20);
    report(40);
    expect(sent).toEqual([message(0), message(30), message(40)]);
  });

  it('are sent only to a client that has a token for them', () => {
    reports({})(10);
    expect(sent).toEqual([]);
  });
});
