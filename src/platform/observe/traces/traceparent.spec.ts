import { parseTraceparent, toTraceparent } from './traceparent.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('a traceparent', () => {
  it('names trace, span and whether it is sampled', () => {
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-02`)).toMatchObject({ isSampled: false });
    expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01-more`)).toMatchObject({ isSampled: true });
    expect(toTraceparent({ traceId: TRACE, spanId: SPAN })).toBe(`00-${TRACE}-${SPAN}-01`);
  });

  it.each([
    undefined,
    ['00-a', 'b'],
    '',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-01\nx`,
  ])('is not %j', (given) => expect(parseTraceparent(given)).toBeNull());
});
