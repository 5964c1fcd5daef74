import { Command } from 'commander';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Check this machine and its configuration. Fails if the service would not work.')
    .option('--json', 'print as JSON')
    .option('--s3-lifecycle', 'also write rules to the bucket that remove what the service could not delete')
    .addHelpText('after', '\nExample: npx darkroom doctor')
    .action(async (options: { json?: true; s3Lifecycle?: true }) => {
      const { checkInstallation } = await import('../installation/installation-checks.ts');
      const findings = await checkInstallation({ s3Lifecycle: options.s3Lifecycle });
      if (options.json) console.log(JSON.stringify(findings, null, 2));
      else
        for (const { check, ok, note } of findings)
          console.log(`${ok ? 'ok  ' : 'FAIL'}  ${check.padEnd(14)}  ${note}`);
      if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
    });
}
