import { Command } from 'commander';
import type { GenerationRequest } from '@darkroom/client';
import { DarkroomError } from '@darkroom/client';
import type { Made, ModelTest } from '../installation/test-models.ts';
import { connect, connected, type Connection } from '../client/connect.ts';

interface Options extends Connection {
  pay?: true;
}

/**
 * `darkroom models test`: runs the tests in the sandbox. With --pay, the running service runs the tests at the
 * providers.
 */
export function modelsTestCommand(): Command {
  const command = new Command('test')
    .description('Run the tests that models declare, in the sandbox. Exits with an error if one fails.')
    .argument('[id...]', 'models; by default all of the folder MODELS')
    .option('--pay', 'let the running service run them at the providers, which costs money')
    .action(async (ids: string[], options: Options) => {
      const { reasons, SandboxTests, testsOf } = await import('../installation/test-models.ts');
      const tests = await testsOf(ids);
      const sandbox = options.pay ? null : new SandboxTests();
      const results: { model: string; name: string; ok: boolean; reasons: string[] }[] = [];
      try {
        for (const test of tests) {
          const found = reasons(test, await (sandbox ? sandbox.make(test) : madeBy(options, test)));
          results.push({ model: test.model, name: test.name, ok: found.length === 0, reasons: found });
          if (!options.json) console.log(line(results.at(-1)!));
        }
      } finally {
        await sandbox?.close();
      }
      if (options.json) console.log(JSON.stringify({ tests: results }, null, 2));
      if (results.some(({ ok }) => !ok)) process.exitCode = 1;
    });
  return connected(command, 'models test qwen-image');
}

const line = ({ model, name, ok, reasons }: { model: string; name: string; ok: boolean; reasons: string[] }): string =>
  `${ok ? 'ok    ' : 'FAIL  '}${model}  ${name}${ok ? '' : `  ${reasons.join('; ')}`}`;

async function madeBy(connection: Connection, { model, input }: ModelTest): Promise<Made> {
  try {
    const run = await connect(connection).generate({ ...input, model } as unknown as GenerationRequest);
    const { result } = await run.wait();
    const { width, height, duration, content_type } = result.outputs[0]!;
    return { outputs: result.outputs.length, width, height, ...(duration && { duration }), content_type };
  } catch (error) {
    if (error instanceof DarkroomError && 'code' in error) return { error: String(error.code) };
    throw error;
  }
}
