import type { ReadyBinding } from '../../providers/registry.ts';

type Addressed = Pick<ReadyBinding, 'endpoint' | 'circuit' | 'upstream'>;

/** What runs of this process are at each address. Each process spreads only its own tasks. */
export class EvenLoad {
  private readonly running = new Map<string, number>();

  /** Runs `work` as one more task of the address. */
  async at<Result>(endpoint: string, work: () => Promise<Result>): Promise<Result> {
    this.add(endpoint, 1);
    try {
      return await work();
    } finally {
      this.add(endpoint, -1);
    }
  }

  /**
   * Bindings in the order in which to try them: those that a declaration has for one model at several addresses begin with
   * the one that has a closed circuit and the fewest tasks, of equals with the first.
   */
  inOrder<Binding extends Addressed>(bindings: readonly Binding[]): Binding[] {
    const groups = Map.groupBy(bindings, ({ upstream, endpoint }) => upstream.declared ?? endpoint);
    return [...groups.values()].flatMap((equal) =>
      equal.toSorted(
        (a, b) =>
          Number(a.circuit.isOpen) - Number(b.circuit.isOpen) || this.tasksAt(a.endpoint) - this.tasksAt(b.endpoint),
      ),
    );
  }

  private add(endpoint: string, tasks: number): void {
    const left = this.tasksAt(endpoint) + tasks;
    if (left > 0) this.running.set(endpoint, left);
    else this.running.delete(endpoint);
  }

  private tasksAt(endpoint: string): number {
    return this.running.get(endpoint) ?? 0;
  }
}
