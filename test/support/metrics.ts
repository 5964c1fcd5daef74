/** The answer of `/metrics` of a process. */
export class Scrape {
  private constructor(readonly text: string) {}

  static async of(baseUrl: string): Promise<Scrape> {
    return new Scrape(await (await fetch(`${baseUrl}/metrics`)).text());
  }

  /** The lines with a value. */
  get lines(): string[] {
    return this.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  }

  /**
   * The sum of the series that have these labels, whatever other labels they have.
   * @returns null when there is no such series
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
