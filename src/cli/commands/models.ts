import { Command } from 'commander';
import { connect, connected, type Connection } from '../client/connect.ts';
import { table } from '../terminal/table.ts';
import { modelsAddCommand } from './models-add.ts';
import { modelsCheckCommand } from './models-check.ts';
import { modelsImportCommand } from './models-import.ts';
import { modelsTestCommand } from './models-test.ts';

/** `darkroom models`: lists the models, or shows the parameters of one. */
export function modelsCommand(): Command {
  const command = new Command('models')
    .description('List the models, or show the parameters of one.')
    .addCommand(modelsAddCommand())
    .addCommand(modelsCheckCommand())
    .addCommand(modelsImportCommand())
    .addCommand(modelsTestCommand())
    .argument('[id]', 'of a model, such as sora-2')
    .action(async (id: string | undefined, options: Connection) => {
      const { models } = connect(options);
      if (id !== undefined) {
        const model = await models.get(id);
        return console.log(options.json ? JSON.stringify(model, null, 2) : parametersText(model.parameters));
      }
      const list = await models.list();
      if (options.json) return console.log(JSON.stringify(list, null, 2));
      const rows = list.map(({ id, kind, available, health, description }) => ({
        id,
        kind,
        status: available ? health.status : 'unavailable',
        queued: String(health.queued),
        description,
      }));
      console.log(table(rows));
    });
  return connected(command, 'models gpt-image-2');
}

interface Parameter {
  type?: string;
  enum?: string[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  description?: string;
}

function parametersText(schema: Record<string, unknown>): string {
  const parameters = Object.entries((schema['properties'] ?? {}) as Record<string, Parameter>);
  const required = (schema['required'] ?? []) as string[];
  const rows = parameters.map(([name, one]) => ({
    parameter: name,
    values: one.enum?.join(' ') ?? rangeText(one),
    default: required.includes(name) ? 'required' : String(one.default ?? '-'),
    description: one.description ?? '',
  }));
  return table(rows);
}

function rangeText({ type = '', minimum, maximum }: Parameter): string {
  return minimum === undefined && maximum === undefined ? type : `${minimum ?? ''} to ${maximum ?? ''}`;
}
