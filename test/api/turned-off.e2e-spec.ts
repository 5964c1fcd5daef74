// Own settings: what an operator can turn off is off, and OpenTelemetry cannot be loaded.
import sharp from 'sharp';
import { aCat, type ErrorBody } from '../support/clients/api.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { joinService, type OwnService, type SharedService, startOwnService } from '../support/service.ts';
import { expectExact, make, pixelsOf } from '../support/made.ts';

const NODE_OPTIONS = `--import=${new URL('../support/faults/without-otel.mjs', import.meta.url).href}`;

let service: OwnService;
let usual: SharedService;
beforeAll(async () => {
  [service, usual] = await Promise.all([
    startOwnService({ NODE_OPTIONS, MCP: 'off', OUTBOUND_ALLOW_HTTP: 'false', PROVENANCE: 'off' }),
    joinService(),
  ]);
});
afterAll(() => Promise.all([service.close(), usual.close()]));

it('has no MCP with MCP=off', async () => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const accept = 'application/json, text/event-stream';
  const { status, body } = await service.api.call<ErrorBody>('POST', '/mcp', list, { accept });
  expect([status, body.error.code]).toEqual([404, 'route_not_found']);
});

it('refuses a webhook over http with OUTBOUND_ALLOW_HTTP=false', async () => {
  const refused = await new WebhookClient(service.api).register<ErrorBody>({ url: 'http://example.com/hook' });
  expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([400, 'url_not_allowed', 'url']);
});

it('stores the bytes of the provider with PROVENANCE=off, the same for the same request', async () => {
  const [unmarked, again] = [await make(service, aCat), await make(service, aCat)];
  expectExact(unmarked);
  expect(again.bytes.equals(unmarked.bytes)).toBe(true);
  expect((await sharp(unmarked.bytes).metadata()).xmp).toBeUndefined();
  const { bytes: marked } = await make(usual, aCat);
  expect((await pixelsOf(marked)).equals(await pixelsOf(unmarked.bytes))).toBe(true);
});

it('loads no package of OpenTelemetry but its API while traces are off', async () => {
  await make(service, aCat);
  const on = startOwnService({ NODE_OPTIONS, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  await expect(on).rejects.toThrow('must not be loaded'); // so the hook does see what is loaded
});
