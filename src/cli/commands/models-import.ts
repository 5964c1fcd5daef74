import { Command } from 'commander';
import { MAX_SEED } from '../../models/declaration/vocabulary.ts';
import { readText } from './models-add.ts';

interface Options {
  comfy: string;
  id: string;
  baseUrl?: string;
  force?: true;
  json?: true;
}

/** `darkroom models import`: makes a declaration of a model from a workflow that ComfyUI has exported. */
export function modelsImportCommand(): Command {
  return new Command('import')
    .description('Make a model of a ComfyUI workflow: write its declaration.')
    .requiredOption('--comfy <file>', 'a workflow, as "Export (API)" of ComfyUI writes it')
    .requiredOption('--id <id>', 'id of the model, such as flux-local')
    .option('--base-url <url>', 'address of the ComfyUI; COMFYUI_URL when left out')
    .option('--force', 'replace files of the same name')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample: npx darkroom models import --comfy flux.json --id flux-local')
    .action(async (options: Options) => {
      const { importComfy } = await import('../installation/import-comfy.ts');
      const { model, file, readIf, warning, seedIsTooLarge } = await importComfy(options.comfy, options);
      if (warning !== null) console.error(`warning: ${warning}`);
      const parameters = Object.keys(model.parameters.properties);
      if (options.json) return console.log(JSON.stringify({ file, id: model.id, version: model.version }, null, 2));
      console.log(`Added ${file}, which takes ${parameters.join(', ')}.`);
      console.log(readText(readIf));
      if (seedIsTooLarge) {
        console.log(`A request takes seeds up to ${MAX_SEED}, so none can have the seed of the workflow.`);
      }
      console.log(`Try it: npx darkroom generate "…" --model ${model.id}`);
    });
}
