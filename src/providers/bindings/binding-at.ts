import type { Declaration } from '../../models/declaration/declaration.ts';
import type { YamlFile } from '../../models/declaration/yaml-file.ts';
import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';

/** The binding that is checked, and its file. */
export interface BindingAt {
  file: YamlFile;
  model: Declaration;
  binding: DeclaredBinding;
  /** The index of the binding in the list. */
  at: number;
  /** The parsed JSON of each workflow file that a binding names, by that name. */
  workflows: ReadonlyMap<string, unknown>;
  /** The names of the model's parameters. */
  names: ReadonlySet<string>;
}
