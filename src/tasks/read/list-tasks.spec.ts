import { ListAnswers } from './list-tasks.ts';

type Lists = ConstructorParameters<typeof ListAnswers>[0];
type Views = ConstructorParameters<typeof ListAnswers>[1];

describe('ListAnswers', () => {
  let reads: unknown[][];
  let fails: boolean;
  let answers: ListAnswers;
  beforeEach(() => {
    reads = [];
    fails = false;
    const list = async (...asked: unknown[]) => {
      reads.push(asked);
      if (fails) throw new Error('no database');
      return { tasks: [], hasMore: false };
    };
    answers = new ListAnswers({ list } as unknown as Lists, {} as Views);
  });

  const EMPTY = '{"object":"list","data":[],"has_more":false,"first_id":null,"last_id":null}';

  it('reads once for equal requests of one turn, after all of them', async () => {
    const asked = [1, 2, 3].map(() => answers.json('key_a', { kind: 'image' }, { limit: 20 }));
    expect(reads).toEqual([]);
    expect(await Promise.all(asked)).toEqual([EMPTY, EMPTY, EMPTY]);
    expect(reads).toEqual([['key_a', { kind: 'image' }, { limit: 20 }]]);
  });

  it('reads for each API key, filter and page', async () => {
    await Promise.all([
      answers.json('key_a', {}, { limit: 20 }),
      answers.json('key_b', {}, { limit: 20 }),
      answers.json('key_a', { kind: 'image' }, { limit: 20 }),
      answers.json('key_a', {}, { limit: 21 }),
      answers.json('key_a', {}, { limit: 20, after: 'task_1' }),
    ]);
    expect(reads).toHaveLength(5);
  });

  it('reads again for a request that comes while an earlier page is read', async () => {
    const first = answers.json('key_a', {}, { limit: 20 });
    await new Promise(setImmediate);
    const second = answers.json('key_a', {}, { limit: 20 });
    await Promise.all([first, second]);
    expect(reads).toHaveLength(2);
  });

  it('passes on a failure to all that share it, and keeps it for none after them', async () => {
    fails = true;
    const asked = [1, 2].map(() => answers.json('key_a', {}, { limit: 20 }));
    for (const answer of await Promise.allSettled(asked)) expect(answer.status).toBe('rejected');
    fails = false;
    expect(await answers.json('key_a', {}, { limit: 20 })).toBe(EMPTY);
    expect(reads).toHaveLength(2);
  });
});
