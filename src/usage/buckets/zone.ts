/**
 * A quarter of an hour in seconds. The present offset of every time zone is a multiple of a quarter. So present local
 * hours and days begin when a quarter begins.
 */
export const QUARTER_S = 900;
const HOUR_S = 3_600;
const DAY_S = 86_400;
/** How many seconds around a guess are searched: more than any change of an offset. */
const SEARCH_S = 26 * HOUR_S;

/** Cuts time at the local hours, days and months of one time zone. All times are unix seconds. */
export class Zone {
  private readonly format: Intl.DateTimeFormat;
  private readonly offsets = new Map<number, number>();

  /** @throws RangeError for an unknown zone */
  constructor(name: string) {
    if (!/^[A-Za-z]/.test(name)) throw new RangeError(`${name} is no IANA name`); // Intl also accepts offsets such as +05:45
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** The first local hour, day or month that begins after `time`. */
  nextCut(time: number, width: '1h' | '1d' | '1M'): number {
    const offset = this.offsetAt(time);
    const guess = nextStart(time + offset, width) - offset;
    if (this.offsetAt(guess) === offset && this.offsetAt(guess - 1) === offset) return guess;
    return this.searchCut(time, width, guess);
  }

  /**
   * Searches every quarter around the guess. This is needed if the clocks change at the cut, or between `time` and the
   * cut.
   */
  private searchCut(time: number, width: '1h' | '1d' | '1M', guess: number): number {
    const first = Math.max(time + 1, guess - SEARCH_S);
    for (let at = Math.ceil(first / QUARTER_S) * QUARTER_S; at < guess + SEARCH_S; at += QUARTER_S) {
      if (this.isCut(at, width)) return at;
    }
    return guess;
  }

  /** Whether an hour, day or month begins at this time. A day without midnight begins right after the clock change. */
  private isCut(time: number, width: '1h' | '1d' | '1M'): boolean {
    const [before, now] = [time - 1, time].map((at) => at + this.offsetAt(at)) as [number, number];
    const starts = nextStart(before, width) <= now;
    return width === '1h' ? starts || now % HOUR_S === 0 : starts;
  }

  /** Seconds that the zone's clocks are ahead of UTC. */
  private offsetAt(time: number): number {
    let offset = this.offsets.get(time);
    if (offset === undefined) {
      const parts = Object.fromEntries(this.format.formatToParts(time * 1000).map(({ type, value }) => [type, value]));
      const { year, month, day, hour, minute, second } = parts as Record<string, string>;
      const local = Date.UTC(
        Number(year),
        Number(month) - 1,
        Number(day),
        Number(hour),
        Number(minute),
        Number(second),
      );
      offset = local / 1000 - time;
      this.offsets.set(time, offset);
    }
    return offset;
  }
}

/** The first start of an hour, day or month after `local`, a time on the zone's clocks. */
function nextStart(local: number, width: '1h' | '1d' | '1M'): number {
  if (width !== '1M') {
    const seconds = width === '1h' ? HOUR_S : DAY_S;
    return (Math.floor(local / seconds) + 1) * seconds;
  }
  const date = new Date(local * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000;
}
