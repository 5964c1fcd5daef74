import { spawnSync } from 'node:child_process';

/** Checks the packages of the service against the advisories of the registry, and fails from severity high. */

/** Some registries, such as mirrors, have no advisories and refuse the request: that is said, and it is no fault of the change. */
const NO_ANSWER = /audit endpoint returned an error|ENOAUDIT|ECONNREFUSED|ENOTFOUND|ETIMEDOUT/;

// The level is said, because `npm run -s` hands its silence on.
const args = ['audit', '--omit=dev', '--audit-level=high', '--loglevel=error'];
const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
if (NO_ANSWER.test(stderr)) {
  console.log('npm audit: the registry does not answer, so nothing was checked against known advisories');
} else {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = status ?? 1;
}
