import type { Bus } from '../../platform/events/bus.ts';
import { DeliverySignal } from './delivery-signal.ts';

function bellOn(published: string[]): { bell: DeliverySignal; heard: string[]; fromOthers: (ids: string[]) => void } {
  let fromOthers: (ids: string[]) => void = () => undefined;
  const bus = {
    publish: (_topic: string, id: string) => void published.push(id),
    hear: (_topic: string, listener: (ids: string[]) => void) => void (fromOthers = listener),
  };
  return { bell: new DeliverySignal(bus as unknown as Bus), heard: [], fromOthers: (ids) => fromOthers(ids) };
}

describe('the bell of deliveries', () => {
  it('is rung over the bus by a process that makes no attempts', () => {
    const published: string[] = [];
    bellOn(published).bell.notify(['we_a', 'we_b']);
    expect(published).toEqual(['we_a', 'we_b']);
  });

  it('is heard inside a process that makes them, and there alone; and from others', () => {
    const published: string[] = [];
    const { bell, heard, fromOthers } = bellOn(published);
    bell.subscribe((ids) => heard.push(...ids));
    bell.notify(['we_a']);
    fromOthers(['we_b']);
    expect([heard, published]).toEqual([['we_a', 'we_b'], []]);
  });
});
