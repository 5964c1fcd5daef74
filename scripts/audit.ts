import { spawnSync } from 'node:child_process';

/** Checks the packages of the service against the registry's advisories. Fails from severity high on. */

/**
 * Some registries, such as mirrors, have no advisories and refuse the request. The program then says so and succeeds,
 * because the change is not at fault.
 */
const NO_ANSWER = /audit endpoint returned an error|ENOAUDIT|ECONNREFUSED|ENOTFOUND|ETIMEDOUT/;

// The log level is given because `npm run -s` would make this npm silent too.
const args = ['audit', '--omit=dev', '--audit-level=high', '--loglevel=error'];
const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
if (NO_ANSWER.test(stderr)) {
  console.log('npm audit: the registry does not answer, so nothing was checked against known advisories');
} else {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = status ?? 1;
}
