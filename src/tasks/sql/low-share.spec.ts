import { LowShare } from './low-share.ts';

/** Starts tasks one by one while both kinds wait. @returns `n` and `l` in the order of the starts */
function startOneByOne(share: LowShare, starts: number): string {
  let order = '';
  for (let nth = 0; nth < starts; nth += 1) {
    const isLow = share.next(1).turns > 0;
    share.count(isLow ? { normal: 0, low: 1 } : { normal: 1, low: 0 });
    order += isLow ? 'l' : 'n';
  }
  return order;
}

describe('the share of tasks of low priority', () => {
  it('is every tenth start at 10 percent', () => {
    expect(startOneByOne(new LowShare(10), 30)).toBe('nnnnnnnnnl'.repeat(3));
  });

  it.each([1, 3, 7, 15, 30, 33, 50])('is %i of 100 starts at so many percent', (percent) => {
    expect(startOneByOne(new LowShare(percent), 1000).match(/l/g)).toHaveLength(percent * 10);
  });

  it('is nothing at 0 percent', () => {
    expect(startOneByOne(new LowShare(0), 500)).not.toContain('l');
    expect(new LowShare(0).next(200).turns).toBe(0);
  });

  it('is as many turns of a claim of many tasks as of single ones', () => {
    const share = new LowShare(10);
    expect(share.next(50).turns).toBe(5);
    share.count({ normal: 7, low: 0 });
    expect([share.next(2).turns, share.next(3).turns, share.next(12).turns, share.next(13).turns]).toEqual([
      0, 1, 1, 2,
    ]);
  });

  it('is not saved up while no task of low priority waits', () => {
    const share = new LowShare(10);
    share.count({ normal: 1000, low: 0 });
    expect(startOneByOne(share, 21)).toBe('lnnnnnnnnnlnnnnnnnnnl');
  });

  it('is made up for after a claim that did not look for tasks of low priority', () => {
    const share = new LowShare(10);
    share.count({ normal: 40, low: 0 }, true);
    expect(share.next(1).turns).toBe(4);
    expect(startOneByOne(share, 14)).toBe('llllnnnnnlnnnn');
  });

  it('is not used up by tasks of low priority that start while no normal one waits', () => {
    const share = new LowShare(10);
    share.count({ normal: 0, low: 1000 });
    expect(startOneByOne(share, 10)).toBe('nnnnnnnnnl');
  });
});
