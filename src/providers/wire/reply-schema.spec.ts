import { z } from 'zod';
import { anything, field, number, parseReply, text } from './reply-schema.ts';

const job = z.object({ id: text(), at: number(), error: field(z.object({ code: text() })), output: anything() });

it('reads the declared fields and drops the others', () => {
  const json = { id: 'a', at: 1, error: { code: 'x', more: 2 }, output: ['u'], unknown: true };
  expect(parseReply(job, json)).toEqual({ id: 'a', at: 1, error: { code: 'x' }, output: ['u'] });
});

it('treats a field of an unexpected type as absent, and keeps the rest', () => {
  expect(parseReply(job, { id: 'a', at: '1', error: null })).toMatchObject({
    id: 'a',
    at: undefined,
    error: undefined,
  });
});

it.each([undefined, null, 'text', 7, []])('reads %j as a reply without fields', (json) => {
  expect(parseReply(job, json).id).toBeUndefined();
});
