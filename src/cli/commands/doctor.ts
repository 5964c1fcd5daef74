import { Command } from 'commander';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Check this machine and its configuration. Fails if the service would not work.')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample: darkroom doctor')
    .action(async (options: { json?: true }) => {
      const { checkInstallation } = await import('../installation-checks.ts');
      const findings = await checkInstallation();
      if (options.json) console.log(JSON.stringify(findings, null, 2));
      else
        for (const { check, ok, note } of findings)
          console.log(`${ok ? 'ok  ' : 'FAIL'}  ${check.padEnd(14)}  ${note}`);
      if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
    });
}
