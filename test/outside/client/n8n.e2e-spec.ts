import { blocksOf } from '../../../scripts/docs-check/blocks.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';

/**
 * Runs the workflow of docs/guides/n8n.md as n8n does: each node gets the item of the one before. n8n itself is not
 * needed.
 */

interface Pair {
  name: string;
  value: string;
}
interface Parameters {
  method?: string;
  url: string;
  authentication?: string;
  genericAuthType?: string;
  headerParameters?: { parameters: Pair[] };
  queryParameters?: { parameters: Pair[] };
  jsonBody?: string;
  options: { response?: { response: { responseFormat: string } } };
  conditions: { conditions: { leftValue: string; rightValue: unknown; operator: { operation: string } }[] };
  errorMessage: string;
}
interface Workflow {
  nodes: { id: string; name: string; type: string; parameters: Parameters }[];
  connections: Record<string, { main: { node: string }[][] }>;
}
type Item = Record<string, unknown>;

const root = new URL('../../../', import.meta.url).pathname;
const page = blocksOf(root, 'docs/guides/n8n.md').find(({ marks }) => marks.file === 'darkroom.json')!.text;

let service: OwnService;
beforeAll(async () => void (service = await startOwnService()));
afterAll(() => service.close());

/** `=text {{ expression }}` */
function evaluated(text: string, $json: Item): unknown {
  if (!text.startsWith('=')) return text;
  const valueOf = (code: string) =>
    new Function('$json', '$execution', `return ${code}`)($json, { id: String(Math.random()) }) as unknown;
  const whole = /^=\{\{(.*)\}\}$/.exec(text);
  if (whole && !whole[1]!.includes('}}')) return valueOf(whole[1]!);
  return text.slice(1).replaceAll(/\{\{(.*?)\}\}/g, (_, code: string) => String(valueOf(code)));
}

async function request(parameters: Parameters, item: Item): Promise<Item> {
  const url = new URL(String(evaluated(parameters.url, item)));
  for (const { name, value } of parameters.queryParameters?.parameters ?? []) url.searchParams.set(name, value);
  const headers = new Headers({
    accept: 'application/json,text/html,application/xhtml+xml,application/xml,text/*;q=0.9, */*;q=0.1',
  });
  for (const { name, value } of parameters.headerParameters?.parameters ?? []) {
    headers.set(name, String(evaluated(value, item)));
  }
  if (parameters.genericAuthType === 'httpBearerAuth') headers.set('authorization', `Bearer ${service.api.key}`);
  const body = parameters.jsonBody && JSON.stringify(JSON.parse(parameters.jsonBody));
  if (body) headers.set('content-type', 'application/json');
  const answer = await fetch(url, { method: parameters.method ?? 'GET', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  const isFile = parameters.options.response?.response.responseFormat === 'file';
  return isFile ? { data: Buffer.from(await answer.arrayBuffer()) } : ((await answer.json()) as Item);
}

function isTrue({ conditions }: Parameters, item: Item): boolean {
  const [{ leftValue, rightValue, operator }] = conditions.conditions as [(typeof conditions.conditions)[0]];
  const left = evaluated(leftValue, item);
  expect(typeof left).toBe(typeof rightValue); // `typeValidation: strict`
  return operator.operation === 'gt' ? (left as number) > (rightValue as number) : left === rightValue;
}

/** @returns the last item, and the names of the nodes that ran */
async function runWorkflow({ nodes, connections }: Workflow): Promise<{ item: Item; ran: string[] }> {
  const ran: string[] = [];
  let item: Item = {};
  for (let name: string | undefined = nodes[0]!.name; name !== undefined;) {
    const { type, parameters } = nodes.find((node) => node.name === name)!;
    ran.push(name);
    let output = 0;
    if (type.endsWith('.httpRequest')) item = await request(parameters, item);
    if (type.endsWith('.if')) output = isTrue(parameters, item) ? 0 : 1;
    if (type.endsWith('.stopAndError')) throw new Error(String(evaluated(parameters.errorMessage, item)));
    name = connections[name]?.main[output]?.[0]?.node;
  }
  return { item, ran };
}

const workflow = (prompt: string) =>
  JSON.parse(
    page.replaceAll('http://127.0.0.1:3000', service.baseUrl).replace('A lighthouse at dusk', prompt),
  ) as Workflow;

describe('the workflow for n8n', () => {
  it('can be imported: ids and names are unique, connections lead to nodes', () => {
    const { nodes, connections } = workflow('A lighthouse');
    const names = nodes.map(({ name }) => name);
    expect(new Set(names).size).toBe(nodes.length);
    expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
    const targets = Object.values(connections).flatMap(({ main }) => main.flat().map(({ node }) => node));
    expect(names).toEqual(expect.arrayContaining([...Object.keys(connections), ...targets]));
  });

  it('ends with the file', async () => {
    const { item, ran } = await runWorkflow(workflow('A lighthouse'));
    expect((item['data'] as Buffer).subarray(1, 4).toString()).toBe('PNG');
    expect(ran).toEqual(['Start', 'Create', 'Follow', 'Ended?', 'Succeeded?', 'Download']);
  });

  it('asks again while the task runs', async () => {
    const impatient = workflow('A lighthouse #delay:3');
    for (const { parameters } of impatient.nodes)
      if (parameters.queryParameters) parameters.queryParameters.parameters[0]!.value = '1';
    const { ran } = await runWorkflow(impatient);
    expect(ran.filter((name) => name === 'Follow').length).toBeGreaterThan(1);
  });

  it('says why a task failed', async () => {
    await expect(runWorkflow(workflow('x #fail:provider_timeout'))).rejects.toThrow(/^provider_timeout: /);
  });
});
