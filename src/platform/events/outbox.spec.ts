import { MalformedMessage, Outbox } from './outbox.ts';

const reader = new Outbox(1_000);

/** Sends all waiting events and returns the messages. */
async function sendAll(outbox: Outbox): Promise<string[]> {
  const messages: string[] = [];
  while (!outbox.isEmpty) await outbox.send(async (some) => messages.push(...some));
  return messages;
}

describe('an outbox', () => {
  it('batches events into messages within the size limit, in order', async () => {
    const outbox = new Outbox(500);
    for (let at = 0; at < 100; at++) outbox.add('task', `number ${at} ${'ä'.repeat(at % 9)}`);
    const messages = await sendAll(outbox);
    expect(messages.every((message) => Buffer.byteLength(message) <= 500)).toBe(true);
    expect(messages.length).toBeLessThan(15);
    const read = messages.flatMap((message) =>
      reader.read(message)!.events.map(([, body]) => Number(body.split(' ')[1])),
    );
    expect(read).toEqual(Array.from({ length: 100 }, (_, at) => at));
  });

  it('sends several messages at once if allowed', async () => {
    const outbox = new Outbox(100, 4);
    for (let at = 0; at < 10; at++) outbox.add('task', `number ${at} ${'a'.repeat(40)}`);
    const sendings: number[] = [];
    while (!outbox.isEmpty) await outbox.send(async (messages) => sendings.push(messages.length));
    expect(sendings).toEqual([4, 4, 2]);
  });

  it('keeps the events of a failed send', async () => {
    const outbox = new Outbox(500);
    outbox.add('task', 'a');
    await expect(outbox.send(() => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    outbox.add('task', 'b');
    const [message] = await sendAll(outbox);
    expect(reader.read(message!)).toEqual({
      events: [
        ['task', 'a'],
        ['task', 'b'],
      ],
      droppedS: 0,
    });
  });

  it('drops events beyond its capacity, and reports it', async () => {
    const outbox = new Outbox(7_900);
    for (let at = 0; at < 50_001; at++) outbox.add('task', String(at));
    const messages = await sendAll(outbox);
    expect(messages).toHaveLength(1);
    const { events, droppedS } = reader.read(messages[0]!)!;
    expect(events).toEqual([['task', '50000']]);
    expect(droppedS).toBeGreaterThanOrEqual(60);
  });

  it('reports dropped events once, however many messages a send has', async () => {
    const outbox = new Outbox(100, 16);
    for (let at = 0; at < 50_000; at++) outbox.add('task', String(at));
    for (let at = 0; at < 20; at++) outbox.add('task', `number ${at} ${'a'.repeat(40)}`);
    const messages: string[] = [];
    await outbox.send(async (some) => messages.push(...some));
    const dropped = messages.map((message) => reader.read(message)!.droppedS);
    expect(dropped.length).toBeGreaterThan(1);
    expect(dropped.filter((seconds) => seconds > 0)).toHaveLength(1);
  });

  it.each([
    'not json',
    'null',
    '7',
    '{"from":"x"}',
    '[]',
    '["zzzzzzzz",[["task",7]],0]',
    '["zzzzzzzz",[["task"]],0]',
    '["zzzzzzzz",{},0]',
    '["zzzzzzzz",[],"0"]',
    '["zzzzzzzz",[],-1]',
    '["zzzzzzzz",[],1e300]',
    '["zzzzzzzz",[],0,"more"]',
  ])('rejects the message %s', (message) => {
    expect(() => reader.read(message)).toThrow(MalformedMessage);
  });

  it('ignores its own messages', async () => {
    const outbox = new Outbox(500);
    outbox.add('task', 'a');
    const [message] = await sendAll(outbox);
    expect(outbox.read(message!)).toBeNull();
  });
});
