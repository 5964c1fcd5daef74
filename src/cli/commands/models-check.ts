import { basename } from 'node:path';
import { Command } from 'commander';
import type { CheckedFile } from '../installation/check-models.ts';

/** `darkroom models check`: needs no service, no network, no database and no credential. */
export function modelsCheckCommand(): Command {
  return new Command('check')
    .description('Check files that declare models. Fails if one has a fault.')
    .argument('[path...]', 'files or folders; by default the folder MODELS')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample: npx darkroom models check models/qwen-image.yaml')
    .action(async (paths: string[], options: { json?: true }) => {
      const { checkModels } = await import('../installation/check-models.ts');
      const files = await checkModels(paths);
      const faults = files.reduce((sum, file) => sum + file.faults.length, 0);
      console.log(options.json ? JSON.stringify({ files: files.map(toJson), faults }, null, 2) : toText(files, faults));
      if (faults > 0) process.exitCode = 1;
    });
}

function toJson({ file, model, faults }: CheckedFile): object {
  return {
    file,
    id: model?.id ?? null,
    version: model?.version ?? null,
    faults: faults.map(({ line, column, path, message }) => ({ line, column, path, message })),
  };
}

function toText(files: readonly CheckedFile[], faults: number): string {
  const lines = files.flatMap(({ file, model, faults: found }) => {
    if (model === null || found.length > 0) {
      return found.map(({ line, column, path, message }) => `${file}:${line}:${column}: ${path}: ${message}`);
    }
    const { id, kind, bindings, version } = model;
    return [`ok    ${basename(file)}  ${id}  ${kind}  ${count(bindings.length, 'binding')}  version ${version}`];
  });
  return [...lines, `${count(files.length, 'file')}, ${count(faults, 'fault')}`].join('\n');
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
