/** What the server says over its socket: `{type, data}`; binary frames are previews and stay unread. */
export interface SocketMessage {
  type: string;
  data: Record<string, unknown>;
}

/** How far one run is, from what its socket tells: the share of nodes done, and of the one at work its own share. */
export class ProgressMeter {
  /** Node id to its share, 0 to 1. Nodes that a node unfolds into have ids of their own and do not count. */
  private readonly shares = new Map<string, number>();
  private current: string | null = null;
  private over = false;

  constructor(nodeIds: Iterable<string>) {
    for (const id of nodeIds) this.shares.set(id, 0);
  }

  /** The server has nothing more to do for it; how it ended stands in its history. */
  get ended(): boolean {
    return this.over;
  }

  get percent(): number {
    const sum = [...this.shares.values()].reduce((total, share) => total + share, 0);
    return (100 * sum) / this.shares.size;
  }

  hear({ type, data }: SocketMessage): void {
    if (type === 'execution_cached' && Array.isArray(data.nodes)) {
      for (const node of data.nodes) this.set(node, 1);
    } else if (type === 'executing') {
      this.set(this.current, 1);
      this.current = typeof data.node === 'string' ? data.node : null;
      if (data.node === null) this.over = true;
    } else if (type === 'progress') {
      this.set(data.node, part(data));
    } else if (type === 'progress_state' && isRecord(data.nodes)) {
      for (const [node, state] of Object.entries(data.nodes)) this.set(node, stateShare(state));
    } else if (['execution_success', 'execution_error', 'execution_interrupted'].includes(type)) {
      this.over = true;
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
  return state.state === 'finished' ? 1 : part(state);
}

function part({ value, max }: Record<string, unknown>): number {
  return typeof value === 'number' && typeof max === 'number' && max > 0 ? value / max : 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
