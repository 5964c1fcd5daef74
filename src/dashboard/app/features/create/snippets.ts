import { toCamelCase, type Values } from './schema-rules.ts';

export type Language = 'curl' | 'typescript' | 'python' | 'graphql' | 'json';

/** How the code gets its result: reads the task until it ends, or lets the creation wait. */
export type Wait = 'poll' | 'wait';

export const LANGUAGES: readonly { value: Language; label: string }[] = [
  { value: 'curl', label: 'cURL' },
  { value: 'typescript', label: 'TypeScript' },
  { value: 'python', label: 'Python' },
  { value: 'graphql', label: 'GraphQL' },
  { value: 'json', label: 'JSON' },
];

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** A text inside single quotes of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The request as code that runs as shown. The key is always the variable of the environment. */
export function snippet(
  language: Language,
  request: Values,
  { baseUrl, wait }: { baseUrl: string; wait: Wait },
): string {
  const writers = { curl, typescript, python, graphql, json: () => pretty(request) };
  return writers[language](request, baseUrl, wait);
}

function curl(request: Values, baseUrl: string, wait: Wait): string {
  const prefer = wait === 'wait' ? ` \\\n  -H 'Prefer: wait=60'` : '';
  return `curl ${baseUrl}/v1/generations \\
  -H "Authorization: Bearer $DARKROOM_API_KEY" \\
  -H 'Content-Type: application/json'${prefer} \\
  -d ${quoted(pretty(request))}`;
}

function typescript(request: Values, baseUrl: string, wait: Wait): string {
  const prefer = wait === 'wait' ? `, Prefer: 'wait=60'` : '';
  return `const headers = {
  Authorization: \`Bearer \${process.env.DARKROOM_API_KEY}\`,
};
const created = await fetch('${baseUrl}/v1/generations', {
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/json'${prefer} },
  body: JSON.stringify(${indent(pretty(request), 2)}),
});
let task = await created.json();
while (task.status === 'queued' || task.status === 'running') {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const read = await fetch(\`${baseUrl}/v1/tasks/\${task.task_id}\`, { headers });
  task = await read.json();
}
console.log(task.result?.outputs[0].url ?? task.error);`;
}

function python(request: Values, baseUrl: string, wait: Wait): string {
  const prefer = wait === 'wait' ? `, "Prefer": "wait=60"` : '';
  return `import json, os, time, urllib.request

HEADERS = {"Authorization": "Bearer " + os.environ["DARKROOM_API_KEY"]}

def call(path, body=None, **more):
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request("${baseUrl}" + path, data, {**HEADERS, **more})
    return json.load(urllib.request.urlopen(request))

body = json.loads(r"""${pretty(request).replaceAll('"""', String.raw`\u0022\u0022\u0022`)}""")
task = call("/v1/generations", body, **{"Content-Type": "application/json"${prefer}})
while task["status"] in ("queued", "running"):
    time.sleep(1)
    task = call("/v1/tasks/" + task["task_id"])
print(task["result"]["outputs"][0]["url"] if task["status"] == "succeeded" else task["error"])`;
}

function graphql(request: Values, baseUrl: string): string {
  const query = 'mutation ($input: CreateGenerationInput!) { createGeneration(input: $input) { taskId status } }';
  const body = { query, variables: { input: toCamelCase(request) } };
  return `curl ${baseUrl}/graphql \\
  -H "Authorization: Bearer $DARKROOM_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${quoted(pretty(body))}`;
}

const indent = (text: string, spaces: number): string => text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
