import { Zone } from './zone.ts';

const unix = (text: string): number => Date.parse(text) / 1000;

/** The cuts from a time on, in UTC. */
function cuts(zone: string, from: string, width: '1h' | '1d' | '1M', count: number): string[] {
  const clock = new Zone(zone);
  const found: number[] = [];
  for (let at = unix(from); found.length < count;) found.push((at = clock.nextCut(at, width)));
  return found.map((at) => new Date(at * 1000).toISOString().replace(':00.000Z', 'Z'));
}

describe('the cuts of a time zone', () => {
  it('are midnights in UTC', () => {
    expect(cuts('UTC', '2026-11-22T11:00Z', '1d', 2)).toEqual(['2026-11-23T00:00Z', '2026-11-24T00:00Z']);
  });

  it('are local midnights where the offset is 5:45', () => {
    expect(cuts('Asia/Kathmandu', '2026-01-15T00:00Z', '1M', 2)).toEqual(['2026-01-31T18:15Z', '2026-02-28T18:15Z']);
    expect(cuts('Asia/Kathmandu', '2026-01-15T00:00Z', '1h', 2)).toEqual(['2026-01-15T00:15Z', '2026-01-15T01:15Z']);
  });

  it('make a day of 23 hours and one of 25', () => {
    expect(cuts('Europe/Berlin', '2026-03-28T12:00Z', '1d', 3)).toEqual([
      '2026-03-28T23:00Z',
      '2026-03-29T22:00Z',
      '2026-03-30T22:00Z',
    ]);
    expect(cuts('America/New_York', '2026-10-31T12:00Z', '1d', 3)).toEqual([
      '2026-11-01T04:00Z',
      '2026-11-02T05:00Z',
      '2026-11-03T05:00Z',
    ]);
  });

  it('keep every hour when clocks go back, also by half an hour', () => {
    expect(cuts('Europe/Berlin', '2026-10-24T23:30Z', '1h', 4)).toEqual([
      '2026-10-25T00:00Z',
      '2026-10-25T01:00Z',
      '2026-10-25T02:00Z',
      '2026-10-25T03:00Z',
    ]);
    // Clocks go from 02:00 back to 01:30: one hour has 90 minutes.
    expect(cuts('Australia/Lord_Howe', '2026-04-04T14:10Z', '1h', 2)).toEqual([
      '2026-04-04T15:30Z',
      '2026-04-04T16:30Z',
    ]);
  });

  it('begin a day without midnight with its first moment', () => {
    // Cairo goes from 00:00 to 01:00.
    expect(cuts('Africa/Cairo', '2026-04-23T12:00Z', '1d', 2)).toEqual(['2026-04-23T22:00Z', '2026-04-24T21:00Z']);
  });

  it('take a month over a change of the clock', () => {
    expect(cuts('America/New_York', '2026-10-15T00:00Z', '1M', 2)).toEqual(['2026-11-01T04:00Z', '2026-12-01T05:00Z']);
  });

  it.each(['Mars/Olympus', '+05:45', '', 'UTC\0'])('refuse the zone %j', (name) => {
    expect(() => new Zone(name)).toThrow(RangeError);
  });
});
