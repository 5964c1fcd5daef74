import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { MODELS } from '../models/catalog.ts';
import { ModelAvailability } from '../models/model-availability.ts';
import { Config, ConfigError } from '../platform/config.ts';

import { type Binding, defaultBindings, type ProviderName } from './bindings/binding.ts';
import { readBindingsFile } from './bindings/bindings-file.ts';
import { Circuit } from './circuit.ts';
import type { Provider, Upstream } from './provider.ts';
import { arkProvider } from './ark/ark.provider.ts';
import { ComfyuiProvider } from './comfyui/comfyui.provider.ts';
import { falProvider } from './fal/fal.provider.ts';
import { GeminiProvider } from './gemini/gemini.provider.ts';
import { OpenaiProvider } from './openai/openai.provider.ts';
import { replicateProvider } from './replicate/replicate.provider.ts';
import { SandboxProvider } from './sandbox/sandbox.provider.ts';

/** A binding with everything that a call needs. */
export interface ReadyBinding {
  name: ProviderName;
  provider: Provider;
  upstream: Upstream;
  credential: string | null;
  concurrency: number | null;
  onUnknownOutcome: Binding['onUnknownOutcome'];
  /** Open after several failures in a row: then nothing is sent, and the next binding is tried. */
  circuit: Circuit;
}

/** The bindings of each model, in order of preference: from the PROVIDERS file, otherwise chosen by the credentials. */
@Injectable()
export class ProviderRegistry implements OnModuleInit {
  private readonly logger = new Logger('providers');
  private readonly adapters: Record<ProviderName, Provider>;
  private readonly fromFile: Map<string, Binding[]>;
  private readonly ready = new Map<string, ReadyBinding[]>();
  private readonly circuits = new Map<string, Circuit>();

  /** @throws ConfigError when the PROVIDERS file is wrong */
  constructor(
    private readonly config: Config,
    sandbox: SandboxProvider,
    private readonly availability: ModelAvailability,
  ) {
    this.adapters = {
      openai: new OpenaiProvider(),
      gemini: new GeminiProvider(),
      ark: arkProvider,
      fal: falProvider,
      replicate: replicateProvider,
      comfyui: new ComfyuiProvider(),
      sandbox,
    };
    this.fromFile = config.providersFile ? readBindingsFile(config.providersFile, config.credentials) : new Map();
  }

  /** @throws ConfigError when a binding cannot work */
  onModuleInit(): void {
    this.check();
    this.availability.register((modelId) =>
      this.bindingsOf(modelId).some((binding) => binding.credential === null || binding.upstream.apiKey !== null),
    );
  }

  bindingsOf(modelId: string): ReadyBinding[] {
    let ready = this.ready.get(modelId);
    if (!ready) {
      const bindings = this.fromFile.get(modelId) ?? defaultBindings(modelId, this.config.credentials);
      ready = bindings.map((binding) => this.makeReady(binding));
      this.ready.set(modelId, ready);
    }
    return ready;
  }

  private check(): void {
    const faults: string[] = [];
    for (const { id } of MODELS) {
      for (const { name, provider, upstream } of this.bindingsOf(id)) {
        try {
          provider.check?.(upstream.model, id);
        } catch (error) {
          faults.push(`${id} cannot be served by ${name} "${upstream.model}": ${(error as Error).message}`);
        }
      }
    }
    if (faults.length > 0) throw new ConfigError(faults);
  }

  private makeReady(binding: Binding): ReadyBinding {
    const { provider, model, baseUrl, credential, durationPolicy } = binding;
    return {
      name: provider,
      provider: this.adapters[provider],
      upstream: {
        model,
        baseUrl,
        apiKey: credential === null ? null : this.config.secretOf(credential),
        durationPolicy,
        pollIntervalMs: this.config.providerPollIntervalMs,
      },
      credential,
      concurrency: binding.concurrency,
      onUnknownOutcome: binding.onUnknownOutcome,
      circuit: this.circuitOf(`${provider} ${baseUrl} ${credential}`),
    };
  }

  private circuitOf(endpoint: string): Circuit {
    let circuit = this.circuits.get(endpoint);
    if (!circuit) {
      circuit = new Circuit((open) =>
        this.logger.warn({ event: open ? 'circuit.opened' : 'circuit.closed', endpoint }),
      );
      this.circuits.set(endpoint, circuit);
    }
    return circuit;
  }
}
