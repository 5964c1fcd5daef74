import pg from 'pg';
import { parseTimestamp } from './timestamps.ts';

const parseOfPg = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date | number | null;

describe('parseTimestamp', () => {
  it('reads every fraction to the millisecond', () => {
    for (let micros = 0; micros < 1_000_000; micros += 333) {
      const fraction = `.${String(micros).padStart(6, '0')}`.replace(/\.?0*$/, '');
      const time = parseTimestamp(`2026-11-25 16:38:44${fraction}+00`) as Date;
      expect(time.getTime()).toBe(Date.UTC(2026, 10, 25, 16, 38, 44, Math.floor(micros / 1000)));
    }
  });

  it.each([
    '2026-11-25 16:38:44+00',
    '2024-02-29 23:59:59.999999+00',
    '1969-12-31 23:59:59.5+00',
    '1000-01-01 00:00:00+00',
    '0099-12-31 00:00:00.25+00',
    '12026-01-01 00:00:00+00',
    '2026-11-25 16:38:44.1+05:30',
    '2026-11-25 16:38:44.1-03',
    '2026-11-25 16:38:44.1+00:19:32',
    '0044-03-15 12:00:00+00 BC',
    'infinity',
    '-infinity',
  ])('reads %s as pg does', (text) => {
    expect(parseTimestamp(text)).toEqual(parseOfPg(text));
  });
});
