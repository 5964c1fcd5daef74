import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { LoadedFiles } from './loaded-files.ts';

const MB = 1_000_000;
const URL = 'https://darkroom.example/v1/files/file_1/content';

const openReply = () => ({ raw: Object.assign(new EventEmitter(), { destroyed: false }) });

describe('the memory of files in answers', () => {
  const admit = (files: LoadedFiles, apiKeyId: string, bytes: number) => {
    const reply = openReply();
    files.admit(bytes, { apiKeyId, reply: reply as unknown as FastifyReply, url: URL });
    return reply.raw;
  };

  it('is bounded for a key until its answers are sent', () => {
    const files = new LoadedFiles();
    const first = admit(files, 'key_a', 20 * MB);
    admit(files, 'key_a', 20 * MB);
    expect(() => admit(files, 'key_a', 1)).toThrow(expect.objectContaining({ code: 'rate_limit_exceeded' }));
    expect(() => admit(files, 'key_a', 1)).toThrow(URL);
    admit(files, 'key_b', 20 * MB);
    first.emit('close');
    admit(files, 'key_a', 20 * MB);
  });

  it('is bounded for all keys together', () => {
    const files = new LoadedFiles();
    const all = ['a', 'b', 'c', 'd', 'e'].flatMap((key) => [admit(files, key, 20 * MB), admit(files, key, 20 * MB)]);
    expect(() => admit(files, 'f', 1)).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
    for (const reply of all) reply.emit('close');
    admit(files, 'f', 20 * MB);
  });

  it('is free at once when the client has gone', () => {
    const files = new LoadedFiles();
    const reply = { raw: Object.assign(new EventEmitter(), { destroyed: true }) } as unknown as FastifyReply;
    for (let nth = 0; nth < 20; nth++) files.admit(20 * MB, { apiKeyId: 'key_a', reply, url: URL });
  });
});
