import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';

const run = promisify(execFile);
const [, command] = /^HEALTHCHECK .*\\\n\s*CMD (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8'))!;
const [program, ...args] = JSON.parse(command!) as [string, ...string[]];

describe('the health check of the image', () => {
  it.each(['PORT', 'OPS_PORT'])('asks on %s', async (variable) => {
    const paths: string[] = [];
    const server = createServer(({ url }, response) => {
      paths.push(url!);
      response.writeHead(200).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const env = { PATH: process.env.PATH, PORT: '9', [variable]: String(port) }; // nothing answers on port 9
    expect(program).toBe('node');
    await run(process.execPath, args, { env }).finally(() => server.close());
    expect(paths).toEqual(['/healthz']);
  });
});

describe('the proxy in front of several processes', () => {
  it('is trusted by those of the compose file', () => {
    const options = { schema: CORE_SCHEMA.withTags(mergeTag) };
    const { services } = load(readFileSync('docker-compose.yml', 'utf8'), options) as {
      services: Record<string, { environment: Record<string, string> }>;
    };
    expect(services.api!.environment.TRUSTED_PROXIES).toBe('${TRUSTED_PROXIES:-172.16.0.0/12,192.168.0.0/16}');
    expect(services.darkroom!.environment.TRUSTED_PROXIES).toBe('${TRUSTED_PROXIES:-}');
  });

  it('is named by the chart, which cannot know its addresses', () => {
    const notes = readFileSync('deploy/helm/darkroom/templates/NOTES.txt', 'utf8');
    expect(notes).toMatch(/if and \.Values\.ingress\.enabled \(not \.Values\.config\.TRUSTED_PROXIES\)/);
  });
});
