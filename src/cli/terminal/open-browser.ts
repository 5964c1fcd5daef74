import { spawn } from 'node:child_process';

/** Opens a URL or a file in the browser of this desktop, on macOS or Linux. Failures are silent. */
export function openBrowser(url: string): void {
  const isDesktop = process.platform === 'darwin' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  if (!isDesktop) return;
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  spawn(program, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
