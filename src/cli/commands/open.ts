import { Command } from 'commander';
import { addressFromEnv } from '../client/service-options.ts';

export function openCommand(): Command {
  return new Command('open')
    .description('Print a link that signs a browser in once, within 10 minutes, and open it where there is a browser.')
    .option('--key <id>', 'key_…; the oldest key with every scope when left out')
    .option('--url <url>', 'address of the service; PUBLIC_URL when left out (env: DARKROOM_URL)', addressFromEnv())
    .option('--print', 'only print the link')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample: npx darkroom open --print')
    .action(async (options) => (await import('../installation/open-dashboard.ts')).openDashboard(options));
}
