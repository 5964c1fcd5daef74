/** What `/metrics` of a process answers. */
export class Scrape {
  private constructor(readonly text: string) {}

  static async of(baseUrl: string): Promise<Scrape> {
    return new Scrape(await (await fetch(`${baseUrl}/metrics`)).text());
  }

  /** Lines with a value. */
  get lines(): string[] {
    return this.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  }

  /**
   * The sum of the series that have these labels, whatever others they have.
   * @returns null when there is none
   */
  value(name: string, labels: Record<string, string> = {}): number | null {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const values = this.lines
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .filter((line) => wanted.every((part) => line.includes(part)))
      .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
  }
}
