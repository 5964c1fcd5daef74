import { toCamelCase } from '../format/names.ts';

type Values = Record<string, unknown>;

export type Language = 'curl' | 'typescript' | 'python' | 'graphql' | 'json';

/**
 * How the code gets its result: it reads the task until the task ends, lets the creation wait, or receives every
 * change.
 */
export type Wait = 'poll' | 'wait' | 'subscribe';

export const LANGUAGES: readonly { value: Language; label: string }[] = [
  { value: 'curl', label: 'cURL' },
  { value: 'typescript', label: 'TypeScript' },
  { value: 'python', label: 'Python' },
  { value: 'graphql', label: 'GraphQL' },
  { value: 'json', label: 'JSON' },
];

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** A text in single quotes, for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The ways in which each language can wait, with their labels. JSON has none, because it is only the request. */
export const WAITS: Record<Language, readonly { value: Wait; label: string }[]> = {
  curl: [
    { value: 'poll', label: 'read until it ends' },
    { value: 'wait', label: 'Prefer: wait' },
    { value: 'subscribe', label: 'follow the events' },
  ],
  typescript: [
    { value: 'poll', label: 'read until it ends' },
    { value: 'wait', label: 'Prefer: wait' },
    { value: 'subscribe', label: 'subscribe' },
  ],
  python: [
    { value: 'poll', label: 'read until it ends' },
    { value: 'wait', label: 'Prefer: wait' },
    { value: 'subscribe', label: 'follow the events' },
  ],
  graphql: [
    { value: 'poll', label: 'answer at once' },
    { value: 'subscribe', label: 'subscribe' },
  ],
  json: [],
};

/** The request as code that runs as shown, or as JSON alone. The code reads the key from the environment. */
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
  const create = `curl -s ${baseUrl}/v1/generations \\
  -H "Authorization: Bearer $DARKROOM_API_KEY" \\
  -H 'Content-Type: application/json'${prefer} \\
  -d ${quoted(pretty(request))}`;
  if (wait === 'wait') return create;
  const task = `task=$(${create} |
  sed 's/^{"task_id":"\\([^"]*\\)".*/\\1/')
`;
  if (wait === 'subscribe') {
    return `${task}
curl -sN "${baseUrl}/v1/tasks/$task/events" \\
  -H "Authorization: Bearer $DARKROOM_API_KEY"`;
  }
  return `${task}
until curl -s "${baseUrl}/v1/tasks/$task?wait=60" \\
  -H "Authorization: Bearer $DARKROOM_API_KEY" |
  grep '"completed_at":[1-9]'
do sleep 1; done`;
}

function typescript(request: Values, baseUrl: string, wait: Wait): string {
  const prefer = wait === 'wait' ? `, Prefer: 'wait=60'` : '';
  const create = `const headers = {
  Authorization: \`Bearer \${process.env.DARKROOM_API_KEY}\`,
};
const created = await fetch('${baseUrl}/v1/generations', {
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/json'${prefer} },
  body: JSON.stringify(${indent(pretty(request), 2)}),
});
let task = await created.json();`;
  if (wait === 'subscribe') return `${IMPORT_SOCKET}\n\n${create}\n${socket(baseUrl, 'task.task_id')}`;
  return `${create}
while (task.status === 'queued' || task.status === 'running') {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const read = await fetch(\`${baseUrl}/v1/tasks/\${task.task_id}\`, { headers });
  task = await read.json();
}
console.log(task.result?.outputs[0].url ?? task.error);`;
}

const IMPORT_SOCKET = `import { createClient } from 'graphql-ws'; // npm install graphql-ws`;

/** Code that follows a task over a GraphQL socket, with the package `graphql-ws`. */
const socket = (baseUrl: string, taskId: string): string => `const client = createClient({
  url: '${baseUrl.replace(/^http/, 'ws')}/graphql',
  connectionParams: { authorization: \`Bearer \${process.env.DARKROOM_API_KEY}\` },
});
const updates = client.iterate({
  query: \`subscription ($taskId: String!) {
    taskUpdated(taskId: $taskId) {
      status progress result { outputs { url } } error { code message }
    }
  }\`,
  variables: { taskId: ${taskId} },
});
for await (const { data } of updates) console.log(JSON.stringify(data.taskUpdated));
await client.dispose();`;

function python(request: Values, baseUrl: string, wait: Wait): string {
  const prefer = wait === 'wait' ? `, "Prefer": "wait=60"` : '';
  const create = `import json, os, time, urllib.request

HEADERS = {"Authorization": "Bearer " + os.environ["DARKROOM_API_KEY"]}

def call(path, body=None, **more):
    data = json.dumps(body).encode() if body else None
    return urllib.request.urlopen(
        urllib.request.Request("${baseUrl}" + path, data, {**HEADERS, **more}))

body = json.loads(r"""${pretty(request).replaceAll('"""', String.raw`\u0022\u0022\u0022`)}""")
task = json.load(call("/v1/generations", body, **{"Content-Type": "application/json"${prefer}}))`;
  if (wait === 'subscribe') {
    return `${create}
for line in call("/v1/tasks/" + task["task_id"] + "/events"):
    if line.startswith(b"data: "):
        task = json.loads(line[6:])
        print(task["status"], task["progress"])
print(task["result"]["outputs"][0]["url"] if task["status"] == "succeeded" else task["error"])`;
  }
  return `${create}
while task["status"] in ("queued", "running"):
    time.sleep(1)
    task = json.load(call("/v1/tasks/" + task["task_id"]))
print(task["result"]["outputs"][0]["url"] if task["status"] == "succeeded" else task["error"])`;
}

const CREATE = 'mutation ($input: CreateGenerationInput!) { createGeneration(input: $input) { taskId status } }';

function graphql(request: Values, baseUrl: string, wait: Wait): string {
  const input = toCamelCase(request);
  if (wait === 'subscribe') {
    return `${IMPORT_SOCKET}

const created = await fetch('${baseUrl}/graphql', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.DARKROOM_API_KEY}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({
    query: '${CREATE}',
    variables: { input: ${indent(pretty(input), 4)} },
  }),
});
const { taskId } = (await created.json()).data.createGeneration;
${socket(baseUrl, 'taskId').replace('{ taskId: taskId }', '{ taskId }')}`;
  }
  return `curl -s ${baseUrl}/graphql \\
  -H "Authorization: Bearer $DARKROOM_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${quoted(pretty({ query: CREATE, variables: { input } }))}`;
}

const indent = (text: string, spaces: number): string => text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
