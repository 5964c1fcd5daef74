import type { Bus } from '../../platform/events/bus.ts';
import { DeliverySignal } from './delivery-signal.ts';

function signalOn(published: string[]): {
  signal: DeliverySignal;
  received: string[];
  publishFromElsewhere: (ids: string[]) => void;
} {
  let listener: (ids: string[]) => void = () => undefined;
  const bus: Pick<Bus, 'publish' | 'subscribe'> = {
    publish: (_topic, id) => void published.push(id),
    subscribe: (_topic, subscribed) => {
      listener = subscribed;
      return () => undefined;
    },
  };
  return { signal: new DeliverySignal(bus as Bus), received: [], publishFromElsewhere: (ids) => listener(ids) };
}

describe('the signal of due deliveries', () => {
  it('is published on the bus by a process that makes no attempts', () => {
    const published: string[] = [];
    signalOn(published).signal.notify(['we_a', 'we_b']);
    expect(published).toEqual(['we_a', 'we_b']);
  });

  it('stays inside a process that makes attempts, which also receives the signals of others', () => {
    const published: string[] = [];
    const { signal, received, publishFromElsewhere } = signalOn(published);
    signal.subscribe((ids) => received.push(...ids));
    signal.notify(['we_a']);
    publishFromElsewhere(['we_b']);
    expect([received, published]).toEqual([['we_a', 'we_b'], []]);
  });
});
