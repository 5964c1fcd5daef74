import { operatorCause } from './operator-cause.ts';

/** As long as an answer of an upstream may be. */
const CHARACTERS = 8 * 1024 * 1024;

it.each(['http://', 'data:', 'a.', '://', '?'])('takes a moment for a text of nothing but %j', (part) => {
  const text = part.repeat(CHARACTERS / part.length);
  const {
    code,
    request_id: id,
    message,
  } = operatorCause('http', 'sk-1', { code: text, requestId: text, message: text });
  expect([code, id, message].map((each) => each?.length)).toEqual([100, 100, 500]);
});

it('has neither the key nor query strings nor pictures', () => {
  const message = 'at https://a.example/x?sig=1 with sk-1: data:image/png;base64,AAAA= and http://b.example';
  expect(operatorCause('http', 'sk-1', { message }).message).toBe(
    'at https://a.example/x?… with [key]: data:… and http://b.example',
  );
});
