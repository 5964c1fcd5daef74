import { Readable } from 'node:stream';
import { fastify } from 'fastify';
import type { Storage } from '../../platform/storage/storage.ts';
import type { ShownTask } from '../../tasks/record/task.entity.ts';
import { VideoContent } from './video-content.ts';

const output = {
  id: 'file_1',
  index: 0,
  type: 'video',
  storage_key: 'a',
  content_type: 'video/mp4',
  size_bytes: 6,
  sha256: 'ab',
};
const task = {
  status: 'succeeded',
  result: [output],
  files_expire_at: new Date(Date.now() + 60_000),
} as unknown as ShownTask;

/** The answer while the storage has these bytes, in parts of one, in place of the six that were stored. */
async function answerWith(stored: string, headers: Record<string, string> = {}) {
  const storage = {
    open: async () => Readable.from([...stored].map((letter) => Buffer.from(letter))),
  } as unknown as Storage;
  const app = fastify();
  app.get('/', async (_, reply) => {
    await new VideoContent(storage).send(task, 'video', reply);
    return reply;
  });
  return app.inject({ url: '/', headers });
}

describe('the content of a video', () => {
  it('has the recorded length', async () => {
    const { statusCode, headers, body } = await answerWith('abcdef');
    expect([statusCode, headers['content-length'], body]).toEqual([200, '6', 'abcdef']);
    const part = await answerWith('bc', { range: 'bytes=1-2' });
    expect([part.statusCode, part.headers['content-range'], part.body]).toEqual([206, 'bytes 1-2/6', 'bc']);
  });

  it.each(['abc', 'abcdefg'])('is cut when the storage has "%s"', async (stored) => {
    await expect(answerWith(stored)).rejects.toThrow('response destroyed before completion');
  });
});
