/** Writes one byte every 50 ms, without end. */
export function drip(stream: {
  write(text: string): boolean;
  once(event: 'close', listener: () => void): unknown;
}): void {
  const timer = setInterval(() => stream.write('x'), 50);
  stream.once('close', () => clearInterval(timer));
}
