import { Kind } from 'graphql';
import { LongScalar } from './long-scalar.ts';

const literal = (kind: Kind.INT | Kind.FLOAT | Kind.STRING, value: string) => LongScalar.parseLiteral({ kind, value });

describe('Long', () => {
  it('takes integers up to 53 bits, in both directions', () => {
    for (const value of [0, -1, 2 ** 31, 4_102_444_800, Number.MAX_SAFE_INTEGER]) {
      expect(LongScalar.serialize(value)).toBe(value);
      expect(LongScalar.parseValue(value)).toBe(value);
      expect(literal(Kind.INT, String(value))).toBe(value);
    }
  });

  it('refuses everything else', () => {
    for (const value of ['1', 1.5, true, null, {}, NaN]) {
      expect(() => LongScalar.parseValue(value)).toThrow('Long cannot represent non-integer value');
    }
    expect(() => literal(Kind.STRING, '1')).toThrow('non-integer');
    expect(() => literal(Kind.FLOAT, '1.5')).toThrow('non-integer');
    expect(() => LongScalar.parseValue(2 ** 53)).toThrow('non 53-bit signed integer value');
    expect(() => literal(Kind.INT, '9007199254740993')).toThrow('non 53-bit signed integer value');
  });
});
