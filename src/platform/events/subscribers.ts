/** Who listens to what, in this process. The half of a bus that has nothing to do with how news travels. */
export class Subscribers {
  private readonly ofTopic = new Map<string, Set<(bodies: string[]) => void>>();
  private readonly ofReturn: ((deafS: number) => void)[] = [];

  hear(topic: string, listener: (bodies: string[]) => void): () => void {
    const hearers = this.ofTopic.get(topic) ?? new Set();
    this.ofTopic.set(topic, hearers.add(listener));
    return () => hearers.delete(listener);
  }

  whenBack(listener: (deafS: number) => void): void {
    this.ofReturn.push(listener);
  }

  deliver(news: readonly (readonly [topic: string, body: string])[]): void {
    for (const [topic, entries] of Map.groupBy(news, ([topic]) => topic)) {
      for (const listener of this.ofTopic.get(topic) ?? []) listener(entries.map(([, body]) => body));
    }
  }

  missed(deafS: number): void {
    for (const listener of this.ofReturn) listener(deafS);
  }
}
