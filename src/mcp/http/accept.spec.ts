import { accepts, JSON_TYPE, STREAM_TYPE, toJson } from './accept.ts';

describe('the Accept header', () => {
  it.each([
    [undefined, true, true],
    ['', true, true],
    ['*/*', true, true],
    ['application/json', true, false],
    ['Application/JSON;charset=utf-8', true, false],
    ['text/event-stream', false, true],
    ['text/*, application/json', true, true],
    ['application/json, text/event-stream', true, true],
    ['*/*, text/event-stream;q=0', true, false],
    ['text/html', false, false],
  ])('%s takes JSON: %s, a stream: %s', (header, json, stream) => {
    expect([JSON_TYPE, STREAM_TYPE].map((type) => accepts(header, type))).toEqual([json, stream]);
  });
});

describe('a stream for a client that takes none', () => {
  const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: {} };
  const answers = [1, 2].map((id) => ({ jsonrpc: '2.0', id, result: {} }));
  const stream = (messages: object[]) =>
    new Response(messages.map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`).join(': alive\n\n'));

  it('is its answer, or the answers of a batch', async () => {
    expect(await (await toJson(stream([progress, answers[0]!]), false)).json()).toEqual(answers[0]);
    expect(await (await toJson(stream([progress, ...answers]), true)).json()).toEqual(answers);
    expect(await (await toJson(stream([progress]), false)).json()).toBeNull();
  });
});
