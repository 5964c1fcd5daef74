import 'reflect-metadata';
import { jest } from '@jest/globals';
import type { ApiError } from '../../errors/api-error.ts';
import { ApiField } from './api-field.ts';
import { defineChoice } from './choice.ts';
import { InputPipe } from '../http/input.pipe.ts';

const Mood = defineChoice('Mood', ['very-good', 'bad'], 'how it feels');

class CheckedPart {
  @ApiField.number('its weight', { min: 0.5 }) weight: number;
}
class CheckedInput {
  @ApiField.string('a name', {
    optional: true,
    min: 1,
    max: 5,
    pattern: { regex: /\S/, message: 'name must not be blank' },
  })
  name?: string;
  @ApiField.integer('a size', { optional: true, min: 1, max: 9 }) size?: number;
  @ApiField.integer('a page', { optional: true, min: 1, max: 9, fromQuery: true }) page?: number;
  @ApiField.boolean('a switch', { optional: true, nullable: true }) is_on?: boolean | null;
  @ApiField.url('an address', { optional: true, max: 10 }) url?: string;
  @ApiField.oneOf(Mood, 'a mood', { optional: true }) mood?: string;
  @ApiField.list(Mood, 'moods', { optional: true, min: 1, unique: true }) moods?: string[];
  @ApiField.list('string', 'tags', { optional: true, max: 2 }) tags?: string[];
  @ApiField.object(() => CheckedPart, 'a part', { optional: true }) part?: CheckedPart;
  @ApiField.list(() => CheckedPart, 'parts', { optional: true }) parts?: CheckedPart[];
  @ApiField.json('anything', { optional: true }) free?: object;
  @ApiField.map('pairs', { optional: true, nullIsOmitted: true }) pairs?: Record<string, string> | null;
  @ApiField.integer('a time', { optional: true, min: 1, max: 9 }) time?: number;
}
class RequiredInput {
  @ApiField.string('a name', { nullable: true }) name: string | null;
}

describe('validation of fields declared with ApiField', () => {
  const check = (value: object, metatype: new () => object = CheckedInput) =>
    new InputPipe().transform(value, { type: 'body', metatype });
  const refusalOf = (input: object): [string, string | null] => {
    try {
      check(input);
    } catch (error) {
      const { code, param } = error as ApiError;
      return [code, param];
    }
    return ['accepted', null];
  };

  it.each([
    {},
    { name: 'abcde', size: 9, is_on: null, url: 'longer than ten', mood: 'bad', free: { any: [1] } },
    { pairs: null, time: 9 },
    { pairs: { constructor: 'a' } },
    { moods: ['bad', 'very-good'], tags: [], part: { weight: 0.5 }, parts: [{ weight: 1 }] },
  ])('accepts %j', (input) => expect(check(input)).toEqual(input));

  it.each([
    [{ name: 5 }, 'invalid_type', 'name', 'name must be a string.'],
    [{ name: null }, 'invalid_type', 'name', 'name must be a string.'],
    [{ name: '' }, 'invalid_value', 'name', 'name must not be blank.'],
    [{ name: ' '.repeat(6) }, 'string_too_long', 'name', 'name must have at most 5 characters.'],
    [{ size: 1.5 }, 'invalid_type', 'size', 'size must be an integer.'],
    [{ size: '5' }, 'invalid_type', 'size', 'size must be an integer.'],
    [{ size: 10 }, 'value_out_of_range', 'size', 'size must be from 1 to 9.'],
    [{ is_on: 'yes' }, 'invalid_type', 'is_on', 'is_on must be true or false.'],
    [{ url: 1 }, 'invalid_type', 'url', 'url must be a string.'],
    [{ mood: 1 }, 'invalid_type', 'mood', 'mood must be a string.'],
    [{ mood: 'x' }, 'invalid_value', 'mood', 'mood must be one of: very-good, bad.'],
    [{ moods: 'bad' }, 'invalid_type', 'moods', 'moods must be an array.'],
    [{ moods: [] }, 'invalid_value', 'moods', 'moods must have at least 1 entry.'],
    [{ moods: ['bad', 'bad'] }, 'invalid_value', 'moods', 'moods must not have the same entry twice.'],
    [{ moods: ['bad', 'bad', 'bad'] }, 'too_many_items', 'moods', 'moods must have at most 2 entries.'],
    [{ moods: ['bad', 'x'] }, 'invalid_value', 'moods[1]', 'moods[1] must be one of: very-good, bad.'],
    [{ tags: ['a', 1] }, 'invalid_type', 'tags[1]', 'tags[1] must be a string.'],
    [{ tags: ['a', 'b', 'c'] }, 'too_many_items', 'tags', 'tags must have at most 2 entries.'],
    [{ part: 1 }, 'invalid_type', 'part', 'part must be an object.'],
    [{ part: { weight: 0 } }, 'value_out_of_range', 'part.weight', 'part.weight must be at least 0.5.'],
    [{ part: { size: 1 } }, 'unknown_parameter', 'part.size', 'There is no parameter part.size. Allowed: weight.'],
    [{ part: {} }, 'missing_required_parameter', 'part.weight', 'part.weight is required.'],
    [{ parts: [{ weight: 1 }, { weight: 'x' }] }, 'invalid_type', 'parts[1].weight', expect.any(String)],
    [{ free: [] }, 'invalid_type', 'free', 'free must be an object.'],
    [{ free: null }, 'invalid_type', 'free', 'free must be an object.'],
    [{ pairs: { a: 'b', c: 1 } }, 'invalid_type', 'pairs', expect.stringContaining('"c"')],
    [{ time: 10 }, 'value_out_of_range', 'time', 'time must be from 1 to 9.'],
  ])('rejects %j', (input, code, param, message) => {
    expect(() => check(input)).toThrow(expect.objectContaining({ code, param, message }));
  });

  it('refuses an input of many values before it compares any of them', () => {
    const tags = Array.from({ length: 6_000 }, (_, at) => `tag${at}`);
    const fields = Object.fromEntries(tags.map((tag) => [tag, 1]));
    const nested = Array.from({ length: 80 }, () => tags.slice(0, 80));
    const compared = jest.spyOn(Array.prototype, 'indexOf');
    const refusals = [
      { tags },
      fields,
      { free: fields },
      { part: fields },
      { free: { nested } },
      { pairs: fields },
    ].map((input) => refusalOf(input));
    const unique = refusalOf({ moods: tags.slice(0, 4_000) });
    const calls = compared.mock.calls.length;
    compared.mockRestore();
    expect(new Set(refusals.map(([code]) => code))).toEqual(new Set(['too_many_items']));
    expect(refusals.map(([, param]) => param)).toEqual(['tags', null, 'free', 'part', 'free.nested[61]', 'pairs']);
    expect(unique).toEqual(['too_many_items', 'moods']);
    expect(calls).toBeLessThan(100);
  });

  it('reads the digits of a query string as a number, and nothing else', () => {
    expect(check({ page: '9' })).toEqual({ page: 9 });
    for (const page of ['1.5', '1e0', ' 1', '', '0x1', ['1', '2']]) {
      expect(() => check({ page })).toThrow(expect.objectContaining({ code: 'invalid_type', param: 'page' }));
    }
    expect(() => check({ page: '10' })).toThrow(expect.objectContaining({ code: 'value_out_of_range' }));
  });

  it('gathers the pairs of a query string', () => {
    const query = (value: object) => new InputPipe().transform(value, { type: 'query', metatype: CheckedInput });
    expect(query({ 'pairs[a]': 'b', 'pairs[c]': 'd' })).toEqual({ pairs: { a: 'b', c: 'd' } });
    expect(() => query({ size: ['1', '2'] })).toThrow(expect.objectContaining({ code: 'invalid_type', param: 'size' }));
    expect(() => query({ cake: ['1', '2'] })).toThrow(expect.objectContaining({ code: 'unknown_parameter' }));
    expect(() => query({ pairs: 'a' })).toThrow(expect.objectContaining({ code: 'unknown_parameter' }));
  });

  it('makes a new instance for every empty input', () => {
    const inputs = [check({}), check({}), check({})];
    expect(new Set(inputs).size).toBe(3);
    expect(inputs).toEqual(Array.from({ length: 3 }, () => new CheckedInput()));
  });

  it('distinguishes null from a missing field', () => {
    expect(check({ name: null }, RequiredInput)).toEqual({ name: null });
    expect(() => check({}, RequiredInput)).toThrow(expect.objectContaining({ code: 'missing_required_parameter' }));
  });
});
