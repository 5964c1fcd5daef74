import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Config } from '../../platform/config/config.ts';
import { Metrics } from '../../platform/observe/measuring/metrics.ts';

export interface Reservation {
  /** Keeps only `bytes` of the reservation. The rest is free for other tasks. */
  shrinkTo(bytes: number): void;
  /** Call when the files are deleted. A second call changes nothing. */
  release(): void;
}

/**
 * The bytes of reference images that this process may keep in its temporary folder. A reservation must leave free at
 * least as much as its API key already holds. So with small reservations one key alone gets half of the budget, and two
 * keys get a third each. A key whose downloads stall then leaves room for others.
 */
@Injectable()
export class ScratchBudget {
  private readonly heldBy = new Map<string, number>();
  private held = 0;

  constructor(
    private readonly config: Config,
    metrics: Metrics,
  ) {
    const gauge: Gauge = new Gauge({
      name: 'darkroom_reference_image_bytes_reserved',
      help: 'Bytes reserved for reference images in the temporary folder, of SCRATCH_MAX_BYTES.',
      registers: [metrics.registry],
      collect: () => gauge.set(this.held),
    });
  }

  /**
   * More `bytes` than the whole budget count as the whole budget. Files of this service may need that much before they
   * are made smaller.
   * @returns null if the key has to wait until more is free
   */
  reserve(apiKeyId: string, bytes: number): Reservation | null {
    const free = this.config.scratchMaxBytes - this.held;
    const ofKey = this.heldBy.get(apiKeyId) ?? 0;
    const granted = Math.min(bytes, this.config.scratchMaxBytes);
    if (ofKey + granted > free) return null;
    let kept = granted;
    this.add(apiKeyId, kept);
    const shrinkTo = (wanted: number) => {
      const less = Math.min(kept, wanted);
      this.add(apiKeyId, less - kept);
      kept = less;
    };
    return { shrinkTo, release: () => shrinkTo(0) };
  }

  private add(apiKeyId: string, bytes: number): void {
    const ofKey = (this.heldBy.get(apiKeyId) ?? 0) + bytes;
    if (ofKey > 0) this.heldBy.set(apiKeyId, ofKey);
    else this.heldBy.delete(apiKeyId);
    this.held += bytes;
  }
}
