import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { Metrics } from '../platform/observe/measuring/metrics.ts';
import { OpenCalls } from './open-calls.ts';

const reply = () => ({ raw: Object.assign(new EventEmitter(), { destroyed: false }) }) as unknown as FastifyReply;

describe('the calls that wait', () => {
  let calls: OpenCalls;
  beforeEach(() => (calls = new OpenCalls(new Metrics())));

  const admit = (key: string, count: number) =>
    Array.from({ length: count }, () => {
      const one = reply();
      calls.admit(key, one);
      return one;
    });
  const refusal = (key: string): string => {
    try {
      calls.admit(key, reply());
    } catch (error) {
      return (error as { code: string }).code;
    }
    return 'admitted';
  };

  it('are bounded per key, and another key is still admitted', () => {
    const [first] = admit('key_1', 500);
    expect(refusal('key_1')).toBe('rate_limit_exceeded');
    expect(refusal('key_2')).toBe('admitted');
    first!.raw.emit('close');
    first!.raw.emit('close');
    expect(refusal('key_1')).toBe('admitted');
    expect(refusal('key_1')).toBe('rate_limit_exceeded');
  });

  it('are bounded in all', () => {
    for (let key = 0; key < 10; key += 1) admit(`key_${key}`, 500);
    expect(refusal('key_x')).toBe('service_unavailable');
  });

  it('all end when the service stops, and no further one is admitted', () => {
    const signal = calls.admit('key_1', reply());
    calls.endAll();
    expect(signal.aborted).toBe(true);
    expect(refusal('key_1')).toBe('service_unavailable');
  });
});
