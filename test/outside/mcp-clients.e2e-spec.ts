import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describeWith, findTool, say } from './deploy/tools.ts';
import { type OwnService, startOwnService } from '../support/service.ts';

/** Programs of others, where they are on this machine. */

const run = promisify(execFile);
const LIMIT = { timeout: 300_000, maxBuffer: 16 * 1024 * 1024 };
const SCRIPT = new URL('../../scripts/check-mcp-python.py', import.meta.url).pathname;
const DARKROOM = new URL('../../dist/cli/darkroom.js', import.meta.url).pathname;

let service: OwnService;
beforeAll(async () => void (service = await startOwnService()));
afterAll(() => service.close());

const env = () => ({ ...process.env, DARKROOM_API_KEY: service.api.key!, DARKROOM_URL: service.baseUrl });

interface Outcome {
  task_id: string;
  status: string;
}

describeWith({ 'mcp-inspector': 'npm install -g @modelcontextprotocol/inspector' }, "the protocol's inspector", () => {
  const inspect = async (target: string[], ...args: string[]) => {
    const { stdout } = await run('mcp-inspector', ['--cli', ...target, ...args], { ...LIMIT, env: env() });
    return JSON.parse(stdout) as { tools: { name: string }[]; structuredContent: Outcome };
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
  ])('lists and calls every tool over %s', async (_what, target) => {
    const { tools } = await inspect(target(), '--method', 'tools/list', '--strict');
    const call = (tool: string, ...given: string[]) => {
      const pairs = given.flatMap((pair) => ['--tool-arg', pair]);
      return inspect(target(), '--method', 'tools/call', '--tool-name', tool, ...pairs);
    };
    const called = new Set<string>();
    const outcome = async (tool: string, ...given: string[]) => {
      called.add(tool);
      return (await call(tool, ...given)).structuredContent;
    };
    const image = await outcome('generate_image', 'prompt=A lighthouse');
    expect(image.status).toBe('succeeded');
    expect(await outcome('generate_video', 'prompt=A wave', 'duration=1')).toMatchObject({ kind: 'video' });
    for (const tool of ['get_task', 'retry_task', 'cancel_task']) {
      expect(await outcome(tool, `task_id=${image.task_id}`)).toMatchObject({ status: 'succeeded' });
    }
    expect(await outcome('keep_task', `task_id=${image.task_id}`)).toMatchObject({ kept: true });
    for (const [tool, object] of [
      ['list_tasks', 'list'],
      ['list_models', 'list'],
      ['get_usage', 'page'],
    ] as const) {
      expect(await outcome(tool)).toMatchObject({ object });
    }
    expect([...called].toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
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
