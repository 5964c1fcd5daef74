import { currentRequest, listAnew } from '../../platform/observe/logging/request-context.ts';
import { charactersIn, countListed } from './page-of-tasks.ts';

describe('the characters of inputs', () => {
  it('are those of all texts, in lists too', () => {
    expect(charactersIn({ prompt: 'a dot', n: 2, reference_images: ['file_1', 'file_2'] })).toBe(5 + 6 + 6);
  });

  it('are those of the JSON, if a text is long', () => {
    expect(charactersIn({ prompt: '\u0001'.repeat(2_000) })).toBe(6 * 2_000 + 2);
  });

  it('add up within a request, and begin again with each state of a subscription', () => {
    currentRequest.run({ id: 'req_1' }, () => {
      expect([countListed({ input: { prompt: 'abc' } }), countListed({ input: { prompt: 'de' } })]).toEqual([3, 5]);
      listAnew();
      expect(countListed({ input: { prompt: 'f' } })).toBe(1);
    });
    expect(countListed({ input: { prompt: 'ghi' } })).toBe(3);
  });
});
