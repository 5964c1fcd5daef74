import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../support/free-port.ts';
import { eventually } from '../../../support/wait.ts';
import { findTool } from '../tools.ts';

export const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'darkroom', AWS_SECRET_ACCESS_KEY: 'a secret of the test' };

interface VersityGateway {
  endpoint: string;
  /** The folder of the bucket `results`: an object is a file in it. */
  bucket: string;
  stop(): Promise<void>;
}

/** A real S3 server, which checks signatures, on files of this machine. */
export async function startVersityGateway(): Promise<VersityGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-versitygw-'));
  const [buckets, metadata] = ['buckets', 'metadata'].map((name) => join(folder, name)) as [string, string];
  mkdirSync(join(buckets, 'results'), { recursive: true });
  mkdirSync(metadata);
  const port = await freePort();
  const settings = {
    ROOT_ACCESS_KEY_ID: CREDENTIALS.AWS_ACCESS_KEY_ID,
    ROOT_SECRET_ACCESS_KEY: CREDENTIALS.AWS_SECRET_ACCESS_KEY,
  };
  // Metadata in files beside the objects: not every file system has extended attributes.
  const args = ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', '--sidecar', metadata, buckets];
  const child = spawn(findTool('versitygw')!, args, { env: { PATH: process.env.PATH, ...settings } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()));
  const ended = once(child, 'exit');
  const endpoint = `http://127.0.0.1:${port}`;
  await eventually('the S3 server to answer', async () => {
    if (child.exitCode !== null) throw new Error(output);
    return fetch(endpoint).then(
      () => true,
      () => false,
    );
  });
  return {
    endpoint,
    bucket: join(buckets, 'results'),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
