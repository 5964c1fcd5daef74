import type { SocketMessage } from './comfy-wire.ts';

/**
 * Progress of one run, from its socket messages: the share of finished nodes, plus the reported share of the active
 * node.
 */
export class ProgressMeter {
  /**
   * The finished share of each node by its id, 0 to 1. A node may expand into further nodes, which have ids of their
   * own and do not count.
   */
  private readonly shares = new Map<string, number>();
  private current: string | null = null;
  private hasEnded = false;

  constructor(nodeIds: Iterable<string>) {
    for (const id of nodeIds) this.shares.set(id, 0);
  }

  /** Whether the server has finished the run. The history contains the outcome then, or a moment later. */
  get ended(): boolean {
    return this.hasEnded;
  }

  get percent(): number {
    const sum = [...this.shares.values()].reduce((total, share) => total + share, 0);
    return (100 * sum) / this.shares.size;
  }

  update({ type, data }: SocketMessage): void {
    if (type === 'execution_cached' && Array.isArray(data.nodes)) {
      for (const node of data.nodes) this.set(node, 1);
    } else if (type === 'executing') {
      this.set(this.current, 1);
      this.current = typeof data.node === 'string' ? data.node : null;
      if (data.node === null) this.hasEnded = true;
    } else if (type === 'progress') {
      this.set(data.node, shareOf(data));
    } else if (type === 'progress_state' && isRecord(data.nodes)) {
      for (const [node, state] of Object.entries(data.nodes)) this.set(node, stateShare(state));
    } else if (['execution_success', 'execution_error', 'execution_interrupted'].includes(type)) {
      this.hasEnded = true;
    }
  }

  private set(node: unknown, share: number): void {
    if (typeof node !== 'string') return;
    const known = this.shares.get(node);
    if (known !== undefined && share > known) this.shares.set(node, Math.min(1, share));
  }
}

function stateShare(state: unknown): number {
  if (!isRecord(state)) return 0;
  return state.state === 'finished' ? 1 : shareOf(state);
}

function shareOf({ value, max }: Record<string, unknown>): number {
  return typeof value === 'number' && typeof max === 'number' && max > 0 ? value / max : 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
