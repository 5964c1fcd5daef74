// The long forms of tests in test/processes: more faults, longer outages. They take most of an hour.
process.env.DARKROOM_TEST_LONG = '1';

await import('../../processes/submit-once.e2e-spec.ts');
await import('../../processes/stopping.e2e-spec.ts');
for (const name of [
  'batch-commit',
  'crashes',
  'database-away',
  'moved-kills',
  'moved-tasks',
  'limits',
  'rolling',
  'upstreams-away',
  'usage-ledger',
  'written-together',
]) {
  await import(`../../processes/faults/${name}.e2e-spec.ts`);
}
