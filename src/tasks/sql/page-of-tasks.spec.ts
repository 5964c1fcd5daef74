import { currentRequest, listAnew } from '../../platform/observe/logging/request-context.ts';
import { charactersOf, countListed } from './page-of-tasks.ts';

const NONE = { metadata: {} };

describe('the characters of a task', () => {
  it('are those of all texts, in lists too', () => {
    const input = { prompt: 'a dot', n: 2, reference_images: ['file_1', 'file_2'] };
    expect(charactersOf({ input, metadata: { order: '4711' } })).toBe(5 + 6 + 6 + 4);
  });

  it('are those of the JSON, if a text is long', () => {
    const long = '\u0001'.repeat(500);
    expect(charactersOf({ input: { prompt: long }, metadata: { order: long } })).toBe(2 * (6 * 500 + 2));
  });

  it('add up within a request, and begin again with each state of a subscription', () => {
    currentRequest.run({ id: 'req_1' }, () => {
      expect(['abc', 'de'].map((prompt) => countListed({ input: { prompt }, ...NONE }))).toEqual([3, 5]);
      listAnew();
      expect(countListed({ input: { prompt: 'f' }, ...NONE })).toBe(1);
    });
    expect(countListed({ input: { prompt: 'ghi' }, ...NONE })).toBe(3);
  });
});
