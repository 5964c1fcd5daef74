import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describeWith, findTool, say } from '../deploy/tools.ts';
import { startApp, type TestApp } from '../support/app.ts';

/** Programs of others, where they are on this machine. */

const run = promisify(execFile);
const LIMIT = { timeout: 300_000, maxBuffer: 16 * 1024 * 1024 };
const SCRIPT = new URL('../../scripts/check-mcp-python.py', import.meta.url).pathname;
const DARKROOM = new URL('../../dist/cli/darkroom.js', import.meta.url).pathname;

let service: TestApp;
beforeAll(async () => void (service = await startApp()));
afterAll(() => service.close());

const env = () => ({ ...process.env, DARKROOM_API_KEY: service.api.key!, DARKROOM_URL: service.baseUrl });

describeWith({ 'mcp-inspector': 'npm install -g @modelcontextprotocol/inspector' }, "the protocol's inspector", () => {
  const inspect = async (target: string[], ...args: string[]) => {
    const { stdout } = await run('mcp-inspector', ['--cli', ...target, ...args], { ...LIMIT, env: env() });
    return JSON.parse(stdout) as { tools: { name: string }[]; structuredContent: { status: string } };
  };
  const overHttp = () => [
    new URL('/mcp', service.baseUrl).href,
    '--transport',
    'http',
    '--header',
    `Authorization: Bearer ${service.api.key}`,
  ];
  const overStdio = () => [
    process.execPath,
    DARKROOM,
    'mcp',
    '-e',
    `DARKROOM_API_KEY=${service.api.key}`,
    '-e',
    `DARKROOM_URL=${service.baseUrl}`,
  ];

  it.each([
    ['HTTP', overHttp],
    ['stdio', overStdio],
  ])('lists and calls the tools over %s', async (_what, target) => {
    const { tools } = await inspect(target(), '--method', 'tools/list', '--strict');
    expect(tools).toHaveLength(8);
    const call = ['--method', 'tools/call', '--tool-name', 'generate_image', '--tool-arg', 'prompt=A lighthouse'];
    expect((await inspect(target(), ...call)).structuredContent.status).toBe('succeeded');
  });
});

describeWith({ python3: 'https://www.python.org' }, 'the official Python client', () => {
  it('lists and calls every tool over HTTP and stdio, in both eras', async () => {
    const { stdout } = await run(findTool('python3')!, [SCRIPT, service.baseUrl, service.api.key!], {
      ...LIMIT,
      env: env(),
    });
    if (stdout.startsWith('skipped')) say(`SKIPPED the official Python client: ${stdout.trim()}`);
    else expect(stdout.match(/^ok/gm)).toHaveLength(44);
    expect(stdout).not.toContain('FAILED');
  });
});
