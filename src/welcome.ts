import type { FirstKey } from './start-service.ts';
import type { Config } from './platform/config/config.ts';

/** The lamp that the dashboard shows too, in the nearest of the 256 colours of a terminal. */
const LAMP = '◉';
const LAMP_COLOR = '\u001b[38;5;202m';
const NO_COLOR = '\u001b[39m';

/**
 * The text after a start, with all that a first request needs. The API key is shown only here.
 * @param terminal the terminal that shows the text; undefined if there is none
 */
export function welcome(config: Config, firstKey: FirstKey | null, terminal?: NodeJS.WriteStream): string {
  const { publicUrl } = config;
  const lamp = terminal && (terminal.hasColors(256) ? LAMP_COLOR + LAMP + NO_COLOR : LAMP);
  const lines = [`${lamp ? `${lamp} ` : ''}Darkroom is ready at ${publicUrl}`, `  reference   ${publicUrl}/docs`];
  if (config.dashboard && !firstKey && config.role !== 'worker') {
    lines.push(`  dashboard   ${publicUrl}/app/  (\`npx darkroom open\` signs you in)`);
  }
  if (firstKey) {
    if (firstKey.signInLink) {
      lines.push(
        `  dashboard   ${firstKey.signInLink}`,
        '              (signs you in once, within 10 minutes; `npx darkroom open` prints another)',
      );
    }
    lines.push(
      `  API key     ${firstKey.key}`,
      '              (shown only once; `npx darkroom keys create` creates another)',
      '',
      'Your first picture:',
      '',
      `  curl ${publicUrl}/v1/generations \\`,
      `    -H 'Authorization: Bearer ${firstKey.key}' -H 'Content-Type: application/json' -H 'Prefer: wait=30' \\`,
      `    -d '{"model":"gpt-image-2","prompt":"A lighthouse at dusk"}'`,
    );
  }
  return `\n${lines.join('\n')}\n\n`;
}
