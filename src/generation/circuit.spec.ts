import { Circuit } from './circuit.ts';
import { ProviderError } from './provider.ts';

describe('the circuit before an upstream', () => {
  const away = () => Promise.reject(new ProviderError('provider_unavailable', { spent: 'nothing' }));
  const refused = () => Promise.reject(new ProviderError('provider_rejected', { spent: 'nothing' }));

  it('opens after five failures in a row that say the upstream is away, and sends nothing more', async () => {
    const changes: boolean[] = [];
    const circuit = new Circuit((open) => changes.push(open));
    for (let call = 0; call < 5; call += 1) {
      await expect(circuit.execute(away)).rejects.toMatchObject({ code: 'provider_unavailable' });
    }
    let sent = 0;
    const call = circuit.execute(async () => (sent += 1));
    await expect(call).rejects.toMatchObject({ code: 'provider_unavailable', spent: 'nothing' });
    expect(sent).toBe(0);
    expect(changes).toEqual([true]);
  });

  it('stays closed for answers, refusals and failed jobs among them', async () => {
    const circuit = new Circuit(() => undefined);
    const failed = () => Promise.reject(new ProviderError('provider_timeout'));
    for (let call = 0; call < 10; call += 1) await expect(circuit.execute(failed)).rejects.toBeDefined();
    for (let call = 0; call < 10; call += 1) await expect(circuit.execute(refused)).rejects.toBeDefined();
    for (let call = 0; call < 4; call += 1) await expect(circuit.execute(away)).rejects.toBeDefined();
    expect(await circuit.execute(async () => 'made')).toBe('made');
    for (let call = 0; call < 4; call += 1) await expect(circuit.execute(away)).rejects.toBeDefined();
    expect(await circuit.execute(async () => 'made again')).toBe('made again');
  });
});
