import { findTool, say } from '../tools.ts';

// The tests of the bus, and of the processes that use it, over Redis instead of PostgreSQL.
process.env.DARKROOM_TEST_BUS = 'Redis';

if (findTool('redis-server')) {
  await import('../../../processes/events-bus.e2e-spec.ts');
  await import('../../../processes/events-processes.e2e-spec.ts');
} else {
  say('SKIPPED the bus over Redis: redis-server is not on this machine (Debian: redis-server)');
  it.skip('the bus over Redis', () => undefined);
}
