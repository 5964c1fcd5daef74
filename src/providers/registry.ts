import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { catalog, findModel } from '../models/catalog.ts';
import { resolutionOf } from '../models/definition/sizes.ts';
import { ModelAvailability } from '../models/model-availability.ts';
import type { Model } from '../models/definition/model.ts';
import type { ModelPricingView } from '../models/model-pricing.view.ts';
import { Config } from '../platform/config/config.ts';
import type { FixedPrice } from '../tasks/record/task-usage.ts';
import { UsageTerms } from '../tasks/record/usage-terms.ts';
import { type Binding, defaultBindings, type ProviderName, sandboxBinding } from './bindings/binding.ts';
import { type BindingsFile, readBindings } from './bindings/bindings-file.ts';
import { priceList } from './bindings/price-list.ts';
import { declaredPrices } from './bindings/declared-prices.ts';
import { type Price, type PricedRequest, priceOf } from './bindings/price.ts';
import { Circuit } from './circuit.ts';
import type { Provider, Upstream } from './contract/provider.ts';
import { arkProvider } from './ark/ark.provider.ts';
import { comfyuiProvider } from './comfyui/comfyui.provider.ts';
import { falProvider } from './fal/fal.provider.ts';
import { httpCalls, httpJobs, httpJobsWithLookup } from './http/http.provider.ts';
import { GeminiProvider } from './gemini/gemini.provider.ts';
import { openaiProvider } from './openai/openai.provider.ts';
import { sdServer } from './openai/sd-server.ts';
import { replicateProvider } from './replicate/replicate.provider.ts';
import { SandboxProvider } from './sandbox/sandbox.provider.ts';
import { callsGoTo } from './wire/call-metrics.ts';

/** A binding with everything that a call needs. */
export interface ReadyBinding {
  name: ProviderName;
  provider: Provider;
  upstream: Upstream;
  credential: string | null;
  concurrency: number | null;
  onUnknownOutcome: Binding['onUnknownOutcome'];
  /** The address and the credential. Bindings with the same endpoint share a circuit. */
  endpoint: string;
  /** Opens after several failures in a row. Then nothing is sent, and the next binding is tried. */
  circuit: Circuit;
}

/**
 * An address with a credential, which bindings may share. A place has the same number in all processes that have the
 * same bindings.
 */
export interface ProviderPlace extends ReadyBinding {
  /** Counted from 1. */
  number: number;
}

/** Called whenever a circuit opens, opens again or closes. */
type CircuitWatcher = (endpoint: string, isOpen: boolean) => void;

/**
 * The bindings of each model, in order of preference. They come from the PROVIDERS file or, if it has none for the
 * model, from the declaration of the model.
 */
@Injectable()
export class ProviderRegistry implements OnModuleInit {
  private readonly logger = new Logger('providers');
  private readonly adapters: Record<Exclude<ProviderName, 'http'>, Provider>;
  private readonly file: BindingsFile;
  private readonly ready = new WeakMap<Model, ReadyBinding[]>();
  /** The circuits by endpoint. A circuit that no binding uses any more stays until `forgetUnused` removes it. */
  private readonly circuits = new Map<string, Circuit>();
  private circuitsOf: readonly Model[] = [];
  private circuitWatcher: CircuitWatcher = () => undefined;
  /** The value of each credential that bindings name. Bindings share it, and a SIGHUP replaces it. */
  private readonly keys = new Map<string, string | null>();
  private credentialWatcher: (credential: string) => void = () => undefined;

  /** @throws ConfigError when the PROVIDERS file is wrong */
  constructor(
    private readonly config: Config,
    sandbox: SandboxProvider,
    private readonly availability: ModelAvailability,
    private readonly terms: UsageTerms,
  ) {
    this.adapters = {
      openai: openaiProvider,
      gemini: new GeminiProvider({ store: config.geminiStore }),
      ark: arkProvider,
      fal: falProvider,
      replicate: replicateProvider,
      comfyui: comfyuiProvider,
      sandbox,
    };
    this.file = readBindings(config);
  }

  onModuleInit(): void {
    this.terms.currency = this.file.currency;
    const firstUsable = (modelId: string) =>
      this.currentOf(modelId).find(({ credential, upstream }) => credential === null || upstream.apiKey !== null);
    this.availability.register(
      (modelId) => firstUsable(modelId) !== undefined,
      (modelId) => firstUsable(modelId)?.name === 'sandbox',
      (modelId, param) => takesParam(firstUsable(modelId), param),
    );
  }

  /** Every place that a binding leads to, in the order of the models and of their bindings. */
  get places(): ProviderPlace[] {
    const bindings = catalog.models.flatMap((model) => this.bindingsOf(model));
    const byEndpoint = new Map(bindings.toReversed().map((binding) => [binding.endpoint, binding]));
    const endpoints = new Set(bindings.map(({ endpoint }) => endpoint));
    return [...endpoints].map((endpoint, at) => ({ ...byEndpoint.get(endpoint)!, number: at + 1 }));
  }

  bindingsOf(model: Model): ReadyBinding[] {
    let ready = this.ready.get(model);
    if (!ready) {
      const bindings = this.file.bindings.get(model.id) ?? this.ownBindings(model);
      ready = bindings.map((binding) => this.makeReady(binding));
      this.ready.set(model, ready);
    }
    return ready;
  }

  /**
   * Removes unused circuits, because operators may name ever new addresses while the service runs. A run that is under
   * way keeps its circuit.
   */
  private forgetUnused(): void {
    const { models } = catalog;
    if (this.circuitsOf === models) return;
    this.circuitsOf = models;
    const bindings = models.flatMap((model) => this.file.bindings.get(model.id) ?? this.ownBindings(model));
    const used = new Set(
      bindings.map(({ provider, baseUrl, credential }) => endpointOf(provider, baseUrl, credential)),
    );
    for (const endpoint of this.circuits.keys()) if (!used.has(endpoint)) this.circuits.delete(endpoint);
  }

  private ownBindings(model: Model): Binding[] {
    return model.declared && this.config.modelsSandbox
      ? [sandboxBinding(model.id, this.config)]
      : defaultBindings(model, this.config);
  }

  /** The bindings of a model as it is loaded now; empty if the model is gone. */
  currentOf(modelId: string): ReadyBinding[] {
    const model = findModel(modelId);
    return model ? this.bindingsOf(model) : [];
  }

  /** The operator's price of a request; null if no price fits. */
  priceOf(request: PricedRequest): FixedPrice | null {
    const resolution = resolutionOf(findModel(request.model)?.sizes ?? {}, request.input);
    const input = { ...request.input, ...(resolution !== undefined && { resolution }) };
    return priceOf(this.pricesOf(request.model), { ...request, input });
  }

  /** The operator's prices of a model; null if there is none. */
  pricingOf(modelId: string): ModelPricingView | null {
    const candidates = this.currentOf(modelId).map(({ name, upstream }) => ({
      provider: name,
      upstreamModel: upstream.model,
    }));
    const rows = priceList(this.pricesOf(modelId), modelId, candidates);
    return rows.length > 0 ? { currency: this.file.currency, rows } : null;
  }

  /** All prices in which to look for one of a model: those of its own declaration first, then all of the price list. */
  private pricesOf(modelId: string): readonly Price[] {
    const model = findModel(modelId);
    return model && model.prices.length > 0 ? [...declaredPrices(model), ...this.file.prices] : this.file.prices;
  }

  /** @param watcher called once for each credential that a binding names and that is set */
  watchCredentials(watcher: (credential: string) => void): void {
    this.credentialWatcher = watcher;
    for (const [credential, key] of this.keys) if (key !== null) watcher(credential);
  }

  keyOf(credential: string): string | null {
    return this.keys.get(credential) ?? null;
  }

  /**
   * Replaces the key for all later calls. Runs that poll a job use the new key too, because the old key may stop
   * working.
   */
  replaceKey(credential: string, key: string): void {
    this.keys.set(credential, key);
  }

  /**
   * Reads a credential, unless it is known already. It may have been unset at an earlier reading, because models are
   * declared while the service runs.
   */
  private readKey(credential: string): void {
    if (this.keyOf(credential) !== null) return;
    const key = this.config.secretOf(credential);
    this.keys.set(credential, key);
    if (key !== null) this.credentialWatcher(credential);
  }

  watchCircuits(watcher: CircuitWatcher): void {
    this.circuitWatcher = watcher;
  }

  /** The binding at another address, to which a task was submitted earlier. */
  at(binding: ReadyBinding, baseUrl: string): ReadyBinding {
    callsGoTo(baseUrl);
    const endpoint = endpointOf(binding.name, baseUrl, binding.credential);
    const upstream = Object.create(binding.upstream, { baseUrl: { value: baseUrl, enumerable: true } }) as Upstream;
    return { ...binding, upstream, endpoint, circuit: this.circuitOf(endpoint) };
  }

  private makeReady(binding: Binding): ReadyBinding {
    const { provider, model, baseUrl, credential, durationPolicy } = binding;
    const endpoint = endpointOf(provider, baseUrl, credential);
    if (baseUrl !== '') callsGoTo(baseUrl);
    if (credential !== null) this.readKey(credential);
    const { keys } = this;
    return {
      name: provider,
      provider: this.adapterOf(binding),
      upstream: {
        model,
        baseUrl,
        get apiKey() {
          return credential === null ? null : (keys.get(credential) ?? null);
        },
        durationPolicy,
        pollIntervalMs: this.config.providerPollIntervalMs,
        ...(binding.declared && { declared: binding.declared }),
      },
      credential,
      concurrency: binding.concurrency,
      onUnknownOutcome: binding.onUnknownOutcome,
      endpoint,
      circuit: this.circuitOf(endpoint),
    };
  }

  private adapterOf({ provider, declared }: Binding): Provider {
    if (provider === 'openai' && declared?.dialect === 'sd-server') return sdServer;
    if (provider !== 'http') return this.adapters[provider];
    if (!declared?.poll) return httpCalls;
    return declared.lookup ? httpJobsWithLookup : httpJobs;
  }

  private circuitOf(endpoint: string): Circuit {
    let circuit = this.circuits.get(endpoint);
    if (!circuit) {
      this.forgetUnused();
      circuit = new Circuit(
        (open) =>
          open
            ? this.logger.warn({ event: 'circuit.opened', endpoint })
            : this.logger.log({ event: 'circuit.closed', endpoint }),
        (open) => this.circuitWatcher(endpoint, open),
      );
      this.circuits.set(endpoint, circuit);
    }
    return circuit;
  }
}

/** Whether a binding uses a parameter; true if there is no binding. A declaration says this for each parameter. */
function takesParam(binding: ReadyBinding | undefined, param: string): boolean {
  if (!binding) return true;
  const { declared } = binding.upstream;
  if (declared) return declared.when?.[param] !== 'absent' && !declared.approximate?.includes(param);
  return (binding.provider.takes as readonly string[]).includes(param);
}

const endpointOf = (provider: ProviderName, baseUrl: string, credential: string | null): string =>
  `${provider} ${baseUrl} ${credential}`;
