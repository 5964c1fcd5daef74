import type { Config } from './platform/config.ts';

/** Text for the terminal after a start: all that a first request needs. The API key is shown only here. */
export function welcome(config: Config, firstKey: string | null): string {
  const { publicUrl } = config;
  const lines = [`Darkroom is ready at ${publicUrl}`, `  reference   ${publicUrl}/docs`];
  if (firstKey) {
    lines.push(
      `  API key     ${firstKey}`,
      '              (shown only once; `npm run darkroom -- keys create` creates another)',
      '',
      'Your first picture:',
      '',
      `  curl ${publicUrl}/v1/generations \\`,
      `    -H 'Authorization: Bearer ${firstKey}' -H 'Content-Type: application/json' -H 'Prefer: wait=30' \\`,
      `    -d '{"model":"gpt-image-2","prompt":"A lighthouse at dusk"}'`,
    );
  }
  return `\n${lines.join('\n')}\n\n`;
}
