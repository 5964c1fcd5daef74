import 'reflect-metadata';
import { Command } from 'commander';
import { wholeNumber } from '../terminal/options.ts';

/** `darkroom audit`: reads the database itself, so it needs the configuration of the service, not a key. */
export function auditCommand(): Command {
  return new Command('audit')
    .description('List who created, changed, rotated and revoked API keys, newest first.')
    .option('--target <id>', 'only acts on this key, key_…')
    .option('--action <action>', 'only this action, such as api_key.revoked')
    .option('--limit <n>', 'how many, 1 to 100', wholeNumber, 20)
    .option('--after <id>', 'the last id of the previous page, aud_…')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample: npx darkroom audit --action api_key.revoked')
    .action(async (options) => (await import('../installation/list-audit-events.ts')).listAuditEvents(options));
}
