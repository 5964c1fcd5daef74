import { jest } from '@jest/globals';
import { FileLinks } from './file-links.ts';
import { TaskViews } from './task-views.ts';
import type { ShownTask } from '../record/task.entity.ts';
import type { UsageTerms } from '../record/usage-terms.ts';

const START = 1_800_000_000_000;
const LINK_S = 3_600;

const task = (more: object = {}): ShownTask =>
  ({
    id: 'task_1',
    status: 'succeeded',
    input: {},
    metadata: {},
    created_at: new Date(START),
    completed_at: new Date(START),
    started_at: new Date(START),
    expires_at: new Date(START + 86_400_000),
    batch_id: null,
    result: [{ id: 'file_1_0', index: 0, type: 'image', storage_key: 'a', content_type: 'image/png' }],
    files_expire_at: new Date(START + 4 * LINK_S * 1_000),
    ...more,
  }) as unknown as ShownTask;

describe('the kept JSON of a task', () => {
  const links = new FileLinks([Buffer.alloc(32, 1)], 'https://darkroom.example', LINK_S);
  const views = new TaskViews(links, { currency: 'USD', revealProviders: true } as UsageTerms);
  beforeEach(() => void jest.useFakeTimers({ now: START }));
  afterEach(() => void jest.useRealTimers());

  it('is made once for as long as its links stay the same', () => {
    const [one, sign] = [task(), jest.spyOn(links, 'sign')];
    const json = views.keptJson(one);
    expect(json).toContain('/v1/files/file_1_0/content?');
    expect(views.keptJson(one)).toBe(json);
    expect(sign).toHaveBeenCalledTimes(1);
    sign.mockRestore();
  });

  it('is the view at each time: with new links before the old ones expire, and none once the files have', () => {
    const [one, texts] = [task(), new Set<string>()];
    for (let minute = 0; minute < 5 * 60; minute += 1) {
      jest.setSystemTime(START + minute * 60_000);
      const json = views.keptJson(one);
      expect(json).toBe(views.json(one));
      texts.add(json);
    }
    expect(texts.size).toBeGreaterThan(4);
    expect([...texts].at(-1)).toContain('"url":null');
  });

  it('is that of the task, not of another version of it', () => {
    const [queued, running] = [{ progress: 0 }, { progress: 5 }].map((more) =>
      task({ ...more, status: 'running', result: null, files_expire_at: null }),
    );
    expect(views.keptJson(queued!)).toContain('"progress":0');
    expect(views.keptJson(running!)).toContain('"progress":5');
    expect(views.keptJson({ ...queued!, progress: 9 })).toContain('"progress":9');
  });
});
