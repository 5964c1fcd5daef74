import { hash } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModelHealth } from '../models/model-health.ts';
import { ModelPricing } from '../models/model-pricing.ts';
import { Bus } from '../platform/events/bus.ts';
import { ProviderRegistry } from './registry.ts';

const TOPIC = 'circuit';
/**
 * After this time an open circuit counts as closed: the process that opened it may be gone, or may have no more tasks
 * for the provider.
 */
const FORGOTTEN_MS = 20_000;

/**
 * Reports to the catalogue which models are in trouble, and what models cost. A circuit opens in the process that makes
 * the calls. That process publishes the state of the circuit, so that processes that only serve the API know it too.
 */
@Injectable()
export class ProviderHealth implements OnModuleInit {
  /** When each open circuit counts as closed, on the monotonic clock, by the hash of its endpoint. */
  private readonly openUntilMs = new Map<string, number>();

  constructor(
    private readonly registry: ProviderRegistry,
    private readonly health: ModelHealth,
    private readonly pricing: ModelPricing,
    private readonly bus: Bus,
  ) {}

  onModuleInit(): void {
    this.bus.subscribe(TOPIC, (bodies) => bodies.forEach((body) => this.note(body)));
    this.registry.watchCircuits((endpoint, isOpen) => {
      const body = `${isOpen ? '+' : '-'}${hash('sha256', endpoint, 'base64url')}`;
      this.note(body);
      this.bus.publish(TOPIC, body);
    });
    this.health.registerTrouble((modelId) =>
      this.registry.currentOf(modelId).some(({ endpoint }) => this.isOpen(endpoint)),
    );
    this.pricing.register((modelId) => this.registry.pricingOf(modelId));
  }

  private note(body: string): void {
    const endpoint = body.slice(1);
    if (body.startsWith('+')) this.openUntilMs.set(endpoint, performance.now() + FORGOTTEN_MS);
    else this.openUntilMs.delete(endpoint);
  }

  private isOpen(endpoint: string): boolean {
    const untilMs = this.openUntilMs.get(hash('sha256', endpoint, 'base64url'));
    return untilMs !== undefined && performance.now() < untilMs;
  }
}
