import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Metrics } from '../platform/observe/measuring/metrics.ts';
import { inFlight } from './provider-metrics.ts';
import { ProviderRegistry } from './registry.ts';
import { SandboxProvider } from './sandbox/sandbox.provider.ts';

@Injectable()
export class ProviderGauges implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly registry: ProviderRegistry,
    private readonly sandbox: SandboxProvider,
  ) {}

  onModuleInit(): void {
    this.metrics.gauges('darkroom_provider_in_flight', 'Runs of this process at a provider.', ['provider'], (set) => {
      for (const [provider, runs] of inFlight) set({ provider }, runs);
    });
    this.metrics.gauges(
      'darkroom_provider_circuit_open',
      'Is 1 from the opening of a circuit until a call succeeds. Places of a provider, an address and a credential each, are numbered.',
      ['provider', 'place'],
      (set) => {
        for (const { name, number, circuit } of this.registry.places) {
          set({ provider: name, place: String(number) }, circuit.isTripped ? 1 : 0);
        }
      },
    );
    this.metrics.gauges('darkroom_sandbox_renders', 'Pictures and films of the sandbox.', ['state'], (set) => {
      const { running, waiting } = this.sandbox.load;
      set({ state: 'running' }, running);
      set({ state: 'waiting' }, waiting);
    });
  }
}
