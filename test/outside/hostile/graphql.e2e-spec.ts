import { assertOrderly, HostileClient } from '../../support/hostile/client.ts';
import { expectNoLeak, LONG } from '../../support/hostile/form.ts';
import { attackGraphql, close, GRAPHQL_ATTACKS, openSocket } from '../../support/hostile/graphql-suite.ts';
import { type HostileService, startHostileService } from '../../support/hostile/service.ts';

let service: HostileService;
beforeAll(async () => void (service = await startHostileService()));
afterAll(() => service.close());
afterEach(() => expect(service.faults()).toEqual([]));

attackGraphql(() => service, LONG);

it('does not leak memory', async () => {
  const client = new HostileClient(service.port, service.api.key);
  const socket = async () => close(await openSocket(service));
  await expectNoLeak('hostile GraphQL', service, { rounds: 1, heapMib: 8, rssMib: 128 }, async () => {
    for (let time = 0; time < 50; time++) await client.sendAll(GRAPHQL_ATTACKS, assertOrderly);
    for (let time = 0; time < 5; time++) await Promise.all(Array.from({ length: 15 }, socket));
  });
  client.close();
});
