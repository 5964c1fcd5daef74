import { jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { Delivery } from './delivery.ts';

describe('the answer of a call', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const events = () => ({
    answering: jest.fn(async () => undefined),
    delivered: jest.fn(),
    hungUp: jest.fn(async () => undefined),
    lost: jest.fn(),
    failed: jest.fn(async () => undefined),
  });
  const answered = async (socket: EventEmitter) => {
    const raw = Object.assign(new EventEmitter(), { socket, destroyed: false });
    const seen = events();
    await new Delivery({ raw } as never, seen).outcomeFollows();
    raw.emit('finish');
    raw.emit('close');
    return seen;
  };

  it('adds one listener to a connection that is kept', async () => {
    const socket = Object.assign(new EventEmitter(), { destroyed: false });
    for (let call = 0; call < 20; call += 1) await answered(socket);
    expect(socket.listenerCount('error')).toBe(1);
  });

  it('is lost if the connection is reset within 2 s', async () => {
    const socket = Object.assign(new EventEmitter(), { destroyed: false });
    const early = await answered(socket);
    await jest.advanceTimersByTimeAsync(2_000);
    const late = await answered(socket);
    socket.emit('error', new Error('reset'));
    expect([early.delivered, early.lost, late.delivered, late.lost].map((fn) => fn.mock.calls.length)).toEqual([
      1, 0, 1, 1,
    ]);
    expect(late.hungUp).not.toHaveBeenCalled();
  });
});
