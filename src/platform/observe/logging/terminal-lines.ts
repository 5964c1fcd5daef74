import { styleText } from 'node:util';
import type { DestinationStream } from 'pino';

/** Fields that are not listed at the end of a line: most are in every line, or are shown at its beginning. */
const LEFT_OUT = new Set([
  'level', 'time', 'service', 'version', 'role', 'process', 'context', 'event', 'msg', 'err', 'stack',
  'trace_id', 'span_id', 'trace_flags',
]); // prettier-ignore
const COLORS = { fatal: 'red', error: 'red', warn: 'yellow', info: 'cyan', debug: 'gray', trace: 'gray' } as const;
const CONTEXT_WIDTH = 12;

interface Fields extends Record<string, unknown> {
  level: keyof typeof COLORS;
  time: string;
  context?: string;
  event?: string;
  msg?: string;
  err?: { type?: string; message?: string; stack?: string };
  stack?: string;
}

/** Writes the lines of the log for people who watch a terminal. */
export const terminalLines = (terminal: NodeJS.WriteStream): DestinationStream => ({
  write: (line) => void terminal.write(readable(line, terminal)),
});

/**
 * A line of the log in aligned columns, in colours if the terminal has them. Empty for a finished request: dashboards
 * send so many that other lines would scroll away.
 */
export function readable(line: string, terminal: NodeJS.WritableStream): string {
  const fields = JSON.parse(line) as Fields;
  const { level, time, context = '', event, msg, err, stack = err?.stack } = fields;
  if (context === 'requests' && level === 'info') return '';
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    'isTTY' in terminal && terminal.isTTY ? styleText(format, text, { stream: terminal as NodeJS.WriteStream }) : text;
  const others = Object.entries(fields).filter(([name, value]) => !LEFT_OUT.has(name) && value !== null);
  const text = [
    style('dim', new Date(time).toTimeString().slice(0, 8)),
    style(COLORS[level], level.padEnd(5)),
    context.padEnd(CONTEXT_WIDTH),
    [event, msg, err && `${err.type}: ${err.message}`].flatMap((part) => (part ? [plain(part)] : [])).join(' '),
    ...others.map(([name, value]) => style('dim', `${name}=`) + shown(value)),
  ].join(' ');
  const trace =
    level === 'error' || level === 'fatal' ? (stack ?? '').split('\n').filter((each) => /^\s+at /.test(each)) : [];
  return [text, ...trace.map((each) => style('dim', plain(each)))].map((each) => `${each.trimEnd()}\n`).join('');
}

function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\w.:/@+-]+$/.test(value)) return value;
  return plain(JSON.stringify(value));
}

/** Replaces characters that would control the terminal. */
const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
