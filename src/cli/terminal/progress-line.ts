const WIDTH = 24;

/** Shows progress on stderr: on a terminal a bar that moves, elsewhere a line for each change. */
export class ProgressLine {
  private shown = '';

  constructor(private readonly out: NodeJS.WriteStream = process.stderr) {}

  update(status: string, percent: number): void {
    const text = `${status} ${percent} %`;
    if (text === this.shown) return;
    this.shown = text;
    if (!this.out.isTTY) return void this.out.write(`${text}\n`);
    const done = Math.round((percent / 100) * WIDTH);
    this.out.write(`\r\x1b[K${'█'.repeat(done)}${'░'.repeat(WIDTH - done)} ${text}`);
  }

  /** Clears the line for what comes next. Only a terminal needs it. */
  end(): void {
    if (this.out.isTTY && this.shown !== '') this.out.write('\r\x1b[K');
    this.shown = '';
  }
}
