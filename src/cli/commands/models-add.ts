import { Command } from 'commander';

/** `darkroom models add`: copies a declaration into the folder of models. */
export function modelsAddCommand(): Command {
  return new Command('add')
    .description('Add a model: a file that declares it, or a name of the library.')
    .argument('<source>', 'a file, or a name such as kling-3')
    .option('--force', 'replace a file of the same name')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample: npx darkroom models add kling-3')
    .action(async (source: string, options: { force?: true; json?: true }) => {
      const { addModel, missingCredentials } = await import('../installation/add-model.ts');
      const { model, file, readIf, warning } = await addModel(source, options);
      if (warning !== null) console.error(`warning: ${warning}`);
      const unset = missingCredentials(model, process.env);
      if (options.json)
        return console.log(JSON.stringify({ file, id: model.id, version: model.version, unset }, null, 2));
      const command = `npx darkroom generate "…" --model ${model.id}`;
      console.log(`Added ${file}.`);
      console.log(readText(readIf));
      console.log(unset.length > 0 ? `Set ${unset.join(' and ')}, then: ${command}` : `Try it: ${command}`);
    });
}

/**
 * A service looks at the folder every 5 s by default, and reads a change once two looks in a row find the same state.
 */
export const readText = (readIf: string): string => `A running service reads it within 10 s, if its ${readIf}.`;
