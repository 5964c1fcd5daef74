import 'reflect-metadata';
import { Command } from 'commander';
import { type CallerLimits, SCOPES } from '../../auth/access/caller.ts';
import { budget } from '../terminal/budget-options.ts';
import { list, moment, number, orNone, wholeNumber } from '../terminal/options.ts';

/** The option of a limit: its flags, the parser of its text, and its help in `create` and in `update`. */
type LimitOption = [flags: string, parse: (text: string) => number, create: string, update: string];

const LIMITS: Record<keyof CallerLimits, LimitOption> = {
  createsPerMinute: [
    '--creates-per-minute <n>',
    wholeNumber,
    '0 = no limit, here and in the next six options',
    '0 = no limit, none = the configured one; likewise in the next six options',
  ],
  readsPerMinute: ['--reads-per-minute <n>', wholeNumber, '', ''],
  maxRunning: ['--max-running <n>', wholeNumber, '', ''],
  maxQueued: ['--max-queued <n>', wholeNumber, '', ''],
  maxFileBytes: ['--max-file-bytes <n>', wholeNumber, '', ''],
  maxRequestFileBytes: ['--max-request-file-bytes <n>', wholeNumber, '', ''],
  maxKeptBytes: ['--max-kept-bytes <n>', wholeNumber, '', ''],
  weight: [
    '--weight <n>',
    wholeNumber,
    'share of the time of workers while other keys wait too, 1 to 100 (default: 10)',
    '1 to 100',
  ],
  taskRetentionDays: [
    '--task-retention-days <days>',
    number,
    'how long its tasks are kept, at most TASK_RETENTION_DAYS',
    'of new tasks; none = the configured ones',
  ],
  fileRetentionDays: [
    '--file-retention-days <days>',
    number,
    'how long their files are kept, at most FILE_RETENTION_DAYS',
    'of their files; none = the configured ones',
  ],
};

/** `darkroom keys …`: works on the database directly, so it needs the service's configuration and no API key. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('Create, list, change, rotate, revoke and export API keys.');

  const create = keys
    .command('create')
    .description('Create a key and print it. It is not shown again.')
    .argument('[name]', 'name of the key', 'command line')
    .option(
      '--scopes <scopes>',
      `any of ${SCOPES.join(',')} (default: those for its own tasks, files and webhooks)`,
      list,
    )
    .option('--all-scopes', 'all scopes, also keys:manage and operations:manage')
    .option(
      '--models <ids>',
      'the models it may use, such as flux-local,kling-*; also those for listed keys only',
      list,
    )
    .option('--expires <when>', 'a date, or a time from now such as 30d or 12h', moment);
  for (const [flags, parse, help] of Object.values(LIMITS)) create.option(flags, help, parse);
  create
    .option('--budget <amount/period>', 'what its tasks may cost, such as 25/month, 2.50/day or 100/total', budget)
    .option('--budget-soft-percent <n>', 'send a webhook when this percentage of the budget is used', wholeNumber)
    .option('--print-only', 'print a key for BOOTSTRAP_API_KEY and store nothing')
    .option('--json', 'print the whole object as JSON')
    .addHelpText('after', '\nExample: npx darkroom keys create ci --scopes generations:write,tasks:read --expires 30d')
    .action(async (name: string, options) => (await import('../installation/manage-keys.ts')).createKey(name, options));

  keys
    .command('list')
    .description('List the keys, newest first.')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample: npx darkroom keys list')
    .action(async (options) => (await import('../installation/manage-keys.ts')).listKeys(options));

  keys
    .command('rotate')
    .description('Give a key a new secret and print it. It is not shown again.')
    .argument('<id>', 'key_…')
    .option('--overlap-hours <hours>', 'how long the old secret still works, up to 168', number, 0)
    .option('--json', 'print the whole object as JSON')
    .addHelpText('after', '\nExample: npx darkroom keys rotate key_01jd8e5t9kf3qs7m2v4xw6yzab --overlap-hours 24')
    .action(async (id: string, options) => (await import('../installation/manage-keys.ts')).rotateKey(id, options));

  const update = keys
    .command('update')
    .description('Change a key. Running services notice within 5 s.')
    .argument('<id>', 'key_…')
    .option('--name <name>', 'what the key is for')
    .option('--scopes <scopes>', `everything that it may do, of ${SCOPES.join(',')}`, list)
    .option('--all-scopes', 'every scope, also keys:manage and operations:manage')
    .option(
      '--models <ids>',
      'all models that it may use, such as flux-local,kling-*; none = every open one',
      orNone(list),
    )
    .option('--expires <when>', 'a date, or 30d or 12h from now; none = never', orNone(moment));
  for (const [flags, parse, , help] of Object.values(LIMITS)) update.option(flags, help, orNone(parse));
  update
    .option(
      '--budget <amount/period>',
      'such as 25/month, in place of the present one; none = no budget',
      orNone(budget),
    )
    .option(
      '--budget-soft-percent <n>',
      'with --budget: send a webhook when this percentage of it is used',
      wholeNumber,
    )
    .option('--json', 'print the whole object as JSON')
    .addHelpText('after', '\nExample: npx darkroom keys update key_01jd8e5t9kf3qs7m2v4xw6yzab --budget 25/month')
    .action(async (id: string, options) => (await import('../installation/manage-keys.ts')).updateKey(id, options));

  keys
    .command('revoke')
    .description('Revoke a key and cancel its queued tasks. Running services refuse it within 5 s.')
    .argument('<id>', 'key_…')
    .option('--keep-tasks', 'let its queued tasks run')
    .option('--children', 'also revoke the keys below it: those that it has created, and theirs in turn')
    .option(
      '--erase',
      'also erase everything that was sent with it or made for it; running services do so in the background',
    )
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample: npx darkroom keys revoke key_01jd8e5t9kf3qs7m2v4xw6yzab')
    .action(async (id: string, options) => (await import('../installation/manage-keys.ts')).revokeKey(id, options));

  keys
    .command('export')
    .description('Write everything that a key has to a new folder, as the API shows it. The service may run meanwhile.')
    .argument('<id>', 'key_…, also of a revoked key')
    .requiredOption('--out <dir>', 'a folder that is empty or does not exist')
    .option('--files', 'also the bytes of uploads and outputs')
    .option('--json', 'print the manifest as JSON')
    .addHelpText('after', '\nExample: npx darkroom keys export key_01jd8e5t9kf3qs7m2v4xw6yzab --out export --files')
    .action(async (id: string, options) => (await import('../export/export-key.ts')).exportKey(id, options));

  return keys;
}
