import 'reflect-metadata';
import { Command } from 'commander';
import { SCOPES } from '../../auth/caller.ts';
import { list, moment, number, orNone, wholeNumber } from '../options.ts';

/** `darkroom keys …`: works on the database itself, so it needs the configuration of the service, not a key. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('Make, list, change, rotate and revoke API keys.');

  keys
    .command('create')
    .description('Make a key and print it, this once.')
    .argument('[name]', 'what the key is for', 'command line')
    .option('--scopes <scopes>', `some of ${SCOPES.join(',')} (default: all but keys:manage)`, list)
    .option('--all-scopes', 'every scope, keys:manage too')
    .option('--expires <when>', 'a date, or 30d or 12h from now', moment)
    .option('--creates-per-minute <n>', '0 = no limit; likewise below', wholeNumber)
    .option('--reads-per-minute <n>', '', wholeNumber)
    .option('--max-running <n>', '', wholeNumber)
    .option('--max-queued <n>', '', wholeNumber)
    .option('--print-only', 'print a key fit for BOOTSTRAP_API_KEY and store nothing')
    .option('--json', 'print the whole object as JSON')
    .action(async (name: string, options) => (await import('./keys-act.ts')).createKey(name, options));

  keys
    .command('list')
    .description('List the keys, newest first.')
    .option('--json', 'print as JSON')
    .action(async (options) => (await import('./keys-act.ts')).listKeys(options));

  keys
    .command('rotate')
    .description('Give a key a new secret and print it, this once.')
    .argument('<id>', 'key_…')
    .option('--overlap-hours <hours>', 'how long the old secret works on, up to 168', number, 0)
    .option('--json', 'print the whole object as JSON')
    .action(async (id: string, options) => (await import('./keys-act.ts')).rotateKey(id, options));

  keys
    .command('update')
    .description('Change a key; running services notice within 5 s.')
    .argument('<id>', 'key_…')
    .option('--name <name>', 'what the key is for')
    .option('--scopes <scopes>', `all that it may do, of ${SCOPES.join(',')}`, list)
    .option('--all-scopes', 'every scope, keys:manage too')
    .option('--expires <when>', 'a date, or 30d or 12h from now; none = never', orNone(moment))
    .option('--creates-per-minute <n>', '0 = no limit, none = the configured one; likewise below', orNone(wholeNumber))
    .option('--reads-per-minute <n>', '', orNone(wholeNumber))
    .option('--max-running <n>', '', orNone(wholeNumber))
    .option('--max-queued <n>', '', orNone(wholeNumber))
    .option('--json', 'print the whole object as JSON')
    .action(async (id: string, options) => (await import('./keys-act.ts')).updateKey(id, options));

  keys
    .command('revoke')
    .description('Refuse a key from now on and cancel its queued tasks; running services notice within 5 s.')
    .argument('<id>', 'key_…')
    .option('--keep-tasks', 'let its queued tasks run')
    .action(async (id: string, options) => (await import('./keys-act.ts')).revokeKey(id, options));

  return keys;
}
