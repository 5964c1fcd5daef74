import { assertOrderly, HostileClient } from '../../support/hostile/client.ts';
import { expectNoLeak, LONG } from '../../support/hostile/form.ts';
import { attackRest, VARIED } from '../../support/hostile/rest-suite.ts';
import { type HostileService, startHostileService } from '../../support/hostile/service.ts';

let service: HostileService;
beforeAll(async () => void (service = await startHostileService()));
afterAll(() => service.close());
afterEach(() => expect(service.faults()).toEqual([]));

attackRest(() => service, LONG);

it('do not leak memory', async () => {
  const client = new HostileClient(service.port, service.api.key);
  await expectNoLeak('hostile REST', service, { rounds: 10, heapMib: 8, rssMib: 128 }, () =>
    client.sendAll(VARIED, assertOrderly),
  );
  client.close();
});
