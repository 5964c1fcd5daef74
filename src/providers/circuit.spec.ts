import { jest } from '@jest/globals';
import { Circuit } from './circuit.ts';
import { ProviderError } from './contract/provider.ts';

describe('the circuit of an upstream', () => {
  const away = () => Promise.reject(new ProviderError('provider_unavailable', { billing: 'none' }));
  const refused = () => Promise.reject(new ProviderError('provider_rejected', { billing: 'none' }));

  it('opens after five failures in a row of an upstream that is down, and then sends nothing', async () => {
    const changes: boolean[] = [];
    const circuit = new Circuit((open) => changes.push(open));
    for (let call = 0; call < 5; call += 1) {
      await expect(circuit.execute(away)).rejects.toMatchObject({ code: 'provider_unavailable' });
    }
    let sent = 0;
    const call = circuit.execute(async () => (sent += 1));
    await expect(call).rejects.toMatchObject({ code: 'provider_unavailable', billing: 'none' });
    expect(sent).toBe(0);
    expect(changes).toEqual([true]);
  });

  it('opens when the outcome of calls is unknown, one after the other', async () => {
    const circuit = new Circuit(() => undefined);
    const torn = () => Promise.reject(new ProviderError('provider_outcome_unknown', { billing: 'unknown' }));
    for (let call = 0; call < 5; call += 1) await expect(circuit.execute(torn)).rejects.toBeDefined();
    expect(circuit.isOpen).toBe(true);
  });

  it('stays closed for answers, including refusals and failed jobs', async () => {
    const circuit = new Circuit(() => undefined);
    const failed = () => Promise.reject(new ProviderError('provider_timeout'));
    for (let call = 0; call < 10; call += 1) await expect(circuit.execute(failed)).rejects.toBeDefined();
    for (let call = 0; call < 10; call += 1) await expect(circuit.execute(refused)).rejects.toBeDefined();
    for (let call = 0; call < 4; call += 1) await expect(circuit.execute(away)).rejects.toBeDefined();
    expect(await circuit.execute(async () => 'made')).toBe('made');
    for (let call = 0; call < 4; call += 1) await expect(circuit.execute(away)).rejects.toBeDefined();
    expect(await circuit.execute(async () => 'made again')).toBe('made again');
  });

  it('counts failures in a row: an answer resets the count, an abort does not change it', async () => {
    const changes: boolean[] = [];
    const circuit = new Circuit((open) => changes.push(open));
    const stopped = () => Promise.reject('ended');
    const fail = (call: () => Promise<never>) => expect(circuit.execute(call)).rejects.toBeDefined();
    for (const call of [away, away, away, away, refused, away, away, away, away]) await fail(call);
    expect(changes).toEqual([]);
    await fail(stopped);
    await fail(away);
    expect(changes).toEqual([true]);
  });

  it('allows all calls after its time, while the first of them is still in flight', async () => {
    const now = jest.spyOn(performance, 'now');
    const changes: boolean[] = [];
    const circuit = new Circuit((open) => changes.push(open));
    try {
      now.mockReturnValue(1_000);
      for (let call = 0; call < 5; call += 1) await expect(circuit.execute(away)).rejects.toBeDefined();
      now.mockReturnValue(6_001);
      const film = Promise.withResolvers<string>();
      const going = circuit.execute(() => film.promise);
      expect(await circuit.execute(async () => 'a picture')).toBe('a picture');
      expect(changes).toEqual([true, false]);
      film.resolve('a film');
      expect(await going).toBe('a film');
    } finally {
      now.mockRestore();
    }
  });

  it('opens again at the first failure after its time', async () => {
    const now = jest.spyOn(performance, 'now');
    const circuit = new Circuit(() => undefined);
    try {
      now.mockReturnValue(1_000);
      for (let call = 0; call < 5; call += 1) await expect(circuit.execute(away)).rejects.toBeDefined();
      now.mockReturnValue(6_001);
      await expect(circuit.execute(away)).rejects.toBeDefined();
      let sent = 0;
      await expect(circuit.execute(async () => (sent += 1))).rejects.toMatchObject({ billing: 'none' });
      expect(sent).toBe(0);
    } finally {
      now.mockRestore();
    }
  });
});
