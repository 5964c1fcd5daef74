import { ApiError } from '../../errors/api-error.ts';
import { parseRange, isRangeCurrent } from './byte-range.ts';

describe('Range', () => {
  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-', 0, 99],
    ['bytes=10-19', 10, 19],
    ['bytes=90-1000', 90, 99],
    ['bytes=99-99999999999999999999999999', 99, 99],
    ['bytes=-1', 99, 99],
    ['bytes=-100', 0, 99],
    ['bytes=-1000', 0, 99],
    ['Bytes=5-5', 5, 5],
    ['bytes= 5-5 ', 5, 5],
  ])('%s is bytes %i to %i of 100', (header, start, end) => {
    expect(parseRange(header, 100)).toEqual({ start, end });
  });

  it.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=5-1',
    'bytes=0-1,5-6',
    'bytes=1.5-2',
    'items=0-1',
    'bytes=--1',
    'bytes=0x1-2',
  ])('%s is ignored: the whole file', (header) => expect(parseRange(header, 100)).toBeNull());

  it.each(['bytes=100-', 'bytes=100-200', 'bytes=99999999999999999999-', 'bytes=-0'])('%s lies outside', (header) => {
    expect(() => parseRange(header, 100)).toThrow(ApiError);
    expect(refusal(header)).toMatchObject({ status: 416, headers: { 'content-range': 'bytes */100' } });
  });

  it('finds nothing in an empty file', () => {
    expect(parseRange(undefined, 0)).toBeNull();
    expect(() => parseRange('bytes=0-', 0)).toThrow(ApiError);
    expect(() => parseRange('bytes=-5', 0)).toThrow(ApiError);
  });

  it('applies under If-Range only to exactly this version', () => {
    expect(isRangeCurrent(undefined, '"a"')).toBe(true);
    expect(isRangeCurrent('"a"', '"a"')).toBe(true);
    expect(isRangeCurrent('"b"', '"a"')).toBe(false);
    expect(isRangeCurrent('W/"a"', '"a"')).toBe(false);
    expect(isRangeCurrent('Fri, 20 Nov 2026 12:00:00 GMT', '"a"')).toBe(false);
  });
});

function refusal(header: string): unknown {
  try {
    return parseRange(header, 100);
  } catch (error) {
    return error;
  }
}
