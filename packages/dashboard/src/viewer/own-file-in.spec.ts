import { ownFileIn } from './own-file-in.ts';

const ID = 'file_01m8dwkc2de4dbypngsk35d9pr_0';

describe('the file of ours in a value', () => {
  it('is named by its id or by a link, whatever its host', () => {
    expect(ownFileIn(ID)).toBe(ID);
    expect(ownFileIn(`http://127.0.0.1:4731/v1/files/${ID}/content?expires=1&signature=x`)).toBe(ID);
  });

  it('is not found in another address, a text or a number', () => {
    for (const value of ['https://example.com/cat.png', `see ${ID}`, `https://example.com/${ID}`, 7, null]) {
      expect(ownFileIn(value)).toBeNull();
    }
  });
});
