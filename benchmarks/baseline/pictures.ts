// The least work for a picture, written by hand. The program asks the upstream, decodes the picture, writes it durably
// and serves the file. It has no validation, no API key, no record, no queue, no inspection, no mark and no hash.
// Arguments: port, (unused), the upstream's URL, a folder.
import { fastify } from 'fastify';
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const [port, , upstream, folder] = process.argv.slice(2) as [string, string, string, string];

const app = fastify();
app.post('/pictures', async (request) => {
  const answer = await fetch(`${upstream}/images/generations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request.body),
  });
  const { data } = (await answer.json()) as { data: [{ b64_json: string }] };
  const id = randomUUID();
  await writeFile(join(folder, id), Buffer.from(data[0].b64_json, 'base64'), { flush: true });
  return { url: `http://127.0.0.1:${port}/pictures/${id}` };
});
app.get('/pictures/:id', async (request, reply) => {
  const { id } = request.params as { id: string };
  return reply.type('image/png').send(createReadStream(join(folder, id)));
});
await app.listen({ port: Number(port), host: '127.0.0.1' });
process.send?.('ready');
