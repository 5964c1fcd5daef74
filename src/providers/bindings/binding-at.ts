import type { Declaration } from '../../models/declaration/declaration.ts';
import type { YamlFile } from '../../models/declaration/yaml-file.ts';
import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';

/** What is checked: a binding in its file. */
export interface BindingAt {
  file: YamlFile;
  model: Declaration;
  binding: DeclaredBinding;
  /** Its number. */
  at: number;
  /** The workflow files that bindings name, by name. */
  workflows: ReadonlyMap<string, unknown>;
  /** The names of the model's parameters. */
  names: ReadonlySet<string>;
}
