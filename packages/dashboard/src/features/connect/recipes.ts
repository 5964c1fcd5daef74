export type Recipe = 'curl' | 'typescript' | 'python' | 'graphql' | 'openai' | 'mcp' | 'webui';

export const RECIPES: readonly { value: Recipe; label: string }[] = [
  { value: 'curl', label: 'cURL' },
  { value: 'typescript', label: 'TypeScript' },
  { value: 'python', label: 'Python' },
  { value: 'graphql', label: 'GraphQL' },
  { value: 'openai', label: 'OpenAI SDK' },
  { value: 'mcp', label: 'MCP' },
  { value: 'webui', label: 'Open WebUI' },
];

const BODY = '{"model": "gpt-image-2", "prompt": "A lighthouse at dusk"}';

/** The code or settings by which a client makes its first picture. The API key always comes from the environment. */
export function recipe(name: Recipe, baseUrl: string): string {
  switch (name) {
    case 'curl':
      return `curl ${baseUrl}/v1/generations \\
  -H "Authorization: Bearer $DARKROOM_API_KEY" \\
  -H 'Content-Type: application/json' -H 'Prefer: wait=30' \\
  -d '${BODY}'`;
    case 'typescript':
      return `const response = await fetch('${baseUrl}/v1/generations', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.DARKROOM_API_KEY}\`,
    'Content-Type': 'application/json',
    Prefer: 'wait=30',
  },
  body: JSON.stringify(${BODY}),
});
const task = await response.json();
console.log(task.result?.outputs[0].url);`;
    case 'python':
      return `import json, os, urllib.request

request = urllib.request.Request(
    "${baseUrl}/v1/generations",
    json.dumps(${BODY}).encode(),
    {
        "Authorization": "Bearer " + os.environ["DARKROOM_API_KEY"],
        "Content-Type": "application/json",
        "Prefer": "wait=30",
    },
)
task = json.load(urllib.request.urlopen(request))
print(task["result"]["outputs"][0]["url"])`;
    case 'graphql':
      return `curl ${baseUrl}/graphql \\
  -H "Authorization: Bearer $DARKROOM_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"query": "mutation ($input: CreateGenerationInput!) { createGeneration(input: $input) { taskId status } }", "variables": {"input": ${BODY}}}'`;
    case 'openai':
      return `from openai import OpenAI
import os

client = OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["DARKROOM_API_KEY"])
image = client.images.generate(model="gpt-image-2", prompt="A lighthouse at dusk", response_format="url")
print(image.data[0].url)`;
    case 'mcp':
      return `{
  "mcpServers": {
    "darkroom": {
      "url": "${baseUrl}/mcp",
      "headers": { "Authorization": "Bearer \${env:DARKROOM_API_KEY}" }
    }
  }
}`;
    default:
      return `# Admin settings, Images
Image generation engine:  Default (Open AI)
API base URL:             ${baseUrl}/v1
API key:                  the value of DARKROOM_API_KEY
Model:                    gpt-image-2`;
  }
}
