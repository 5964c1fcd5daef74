import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { testEnv } from '../../../support/test-env.ts';
import { aFailure, Api } from '../../../support/clients/api.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts';
import { type ServiceProcess, spawnService } from '../../../support/process.ts';
import { describeWith, findTool, say } from '../tools.ts';
import { CONFIGURATION, startHaproxy } from './haproxy.ts';

/** Of each process. More in the long form: DEPLOY_RESTARTS=10. */
const RESTARTS = Number(process.env.DEPLOY_RESTARTS ?? 2);
/** A stop takes more than 5 s, and a start on a busy machine half a minute. */
const LIMIT_MS = 60_000 + RESTARTS * 2 * 45_000;

describeWith({ haproxy: 'Debian: haproxy' }, 'HAProxy before two API processes', () => {
  let database: TestDatabase;
  const processes: ServiceProcess[] = [];
  const envs: Record<string, string>[] = [];
  let balancer: Awaited<ReturnType<typeof startHaproxy>>;
  let api: Api;

  beforeAll(async () => {
    database = await cloneDatabase();
    const { env } = await testEnv(database.url, { ROLE: 'api', SHUTDOWN_DELAY_S: '5' });
    const key = { BOOTSTRAP_API_KEY: env.BOOTSTRAP_API_KEY!, DATA_DIR: env.DATA_DIR! };
    envs.push(env, (await testEnv(database.url, { ROLE: 'api', SHUTDOWN_DELAY_S: '5', ...key })).env);
    for (const one of envs) processes.push(await spawnService(one));
    balancer = await startHaproxy(envs.map(({ PUBLIC_URL }) => PUBLIC_URL!));
    api = new Api(balancer.url, env.BOOTSTRAP_API_KEY!);
  });
  afterAll(async () => {
    await balancer?.stop();
    for (const one of processes) await one.kill('SIGKILL');
    await database.drop();
  });

  it('accepts the configuration as it is shipped', () => {
    const checked = execFileSync(findTool('haproxy')!, ['-c', '-f', CONFIGURATION], { encoding: 'utf8' });
    expect(checked).toContain('Configuration file is valid');
  });

  it('hides health and metrics from the public', async () => {
    for (const path of ['/metrics', '/healthz', '/readyz', '/readyz?of=process']) {
      expect([path, (await fetch(`${balancer.url}${path}`)).status]).toEqual([path, 404]);
    }
  });

  it(
    'answers every request while each process is restarted',
    async () => {
      const answers = new Map<string, number>();
      const over = new AbortController();
      const note = (what: string) => answers.set(what, (answers.get(what) ?? 0) + 1);
      const client = async (): Promise<void> => {
        while (!over.signal.aborted) {
          try {
            const created = await api.create(aFailure);
            note(`create ${created.status}`);
            note(`read ${(await api.get(`/v1/tasks/${created.body.task_id}`)).status}`);
            note(`wait ${(await api.get(`/v1/tasks/${created.body.task_id}?wait=1`)).status}`);
            note(`list ${(await api.get('/v1/tasks?limit=5')).status}`);
          } catch (error) {
            note(`${(error as Error).message}: ${String((error as Error).cause)}`);
          }
          await sleep(20);
        }
      };
      const clients = Array.from({ length: 8 }, client);
      for (let nth = 0; nth < RESTARTS * envs.length; nth += 1) {
        const which = nth % envs.length;
        await processes[which]!.kill('SIGTERM');
        processes[which] = await spawnService(envs[which]!);
        await sleep(2_500); // two health checks
      }
      over.abort();
      await Promise.all(clients);
      say(`${RESTARTS * envs.length} restarts behind HAProxy: ${JSON.stringify(Object.fromEntries(answers))}`);
      expect([...answers.keys()].sort()).toEqual(['create 201', 'list 200', 'read 200', 'wait 200']);
    },
    LIMIT_MS,
  );
});
