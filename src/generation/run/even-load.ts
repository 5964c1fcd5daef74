import type { ReadyBinding } from '../../providers/registry.ts';

type Addressed = Pick<ReadyBinding, 'endpoint' | 'circuit' | 'upstream' | 'name'>;

/** The tasks at addresses of a provider. */
type Count = (provider: string, urls: string[]) => Promise<ReadonlyMap<string, number>>;

/** Spreads tasks over equal servers. */
export class EvenLoad {
  /** Runs of this process by endpoint: those that have not recorded an intent yet are in no count. */
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
   * @param count called for bindings at several addresses only, so that the others cost no statement
   */
  async inOrder<Binding extends Addressed>(bindings: readonly Binding[], count: Count): Promise<Binding[]> {
    const groups = [...Map.groupBy(bindings, ({ upstream, endpoint }) => upstream.declared ?? endpoint).values()];
    return (await Promise.all(groups.map((equal) => this.sorted(equal, count)))).flat();
  }

  private async sorted<Binding extends Addressed>(equal: Binding[], count: Count): Promise<Binding[]> {
    const [first] = equal;
    if (!first || equal.length === 1) return equal;
    const urls = equal.map(({ upstream }) => upstream.baseUrl);
    const counted = await count(first.name, urls);
    const tasks = ({ endpoint, upstream }: Binding) =>
      Math.max(counted.get(upstream.baseUrl) ?? 0, this.running.get(endpoint) ?? 0);
    return equal.toSorted((a, b) => Number(a.circuit.isOpen) - Number(b.circuit.isOpen) || tasks(a) - tasks(b));
  }

  private add(endpoint: string, tasks: number): void {
    const left = (this.running.get(endpoint) ?? 0) + tasks;
    if (left > 0) this.running.set(endpoint, left);
    else this.running.delete(endpoint);
  }
}
