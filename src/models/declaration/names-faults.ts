import { basename } from 'node:path';
import type { Fault } from './fault.ts';
import type { YamlFile } from './yaml-file.ts';

/** The subcommands of `darkroom models`. */
const COMMANDS = new Set(['add', 'check', 'test', 'import', 'list']);

interface Named {
  file: YamlFile;
  id: string | null;
  aliases: string[];
  replacement: string | null;
}

/**
 * The faults of names in the files of a folder: each id and alias must stand for one model, no id may be a subcommand,
 * and a replacement must be a model.
 * @param taken ids and aliases that are already used, each with its owner
 */
export function namesFaults(files: readonly YamlFile[], taken: ReadonlyMap<string, string>): Map<YamlFile, Fault[]> {
  const named = files.map(namedIn);
  const having = Map.groupBy(
    named.filter(({ id }) => id !== null),
    ({ id }) => id!,
  );
  const ownerOf = (alias: string, file: YamlFile): string | undefined => {
    if (having.has(alias)) return 'is also an id';
    if (taken.has(alias)) return `belongs to ${taken.get(alias)}`;
    const other = named.find((each) => each.file !== file && each.aliases.includes(alias));
    return other && `is also in ${basename(other.file.name)}`;
  };
  const found = named.map(({ file, id, aliases, replacement }): [YamlFile, Fault[]] => {
    const faults: Fault[] = [];
    const other = id !== null && having.get(id)!.find((each) => each.file !== file);
    if (id !== null && taken.has(id)) faults.push(file.faultFor(['id'], `id "${id}" belongs to ${taken.get(id)}`));
    else if (id !== null && COMMANDS.has(id)) {
      faults.push(file.faultFor(['id'], `id "${id}" is a command: npx darkroom models ${id}`));
    } else if (other) faults.push(file.faultFor(['id'], `id "${id}" is also in ${basename(other.file.name)}`));
    aliases.forEach((alias, at) => {
      const owner = ownerOf(alias, file);
      if (owner) faults.push(file.faultFor(['aliases', at], `alias "${alias}" ${owner}`));
    });
    if (replacement !== null && !having.has(replacement) && !taken.has(replacement)) {
      faults.push(file.faultFor(['lifecycle', 'replacement'], `replacement "${replacement}" is no model`));
    }
    return [file, faults];
  });
  return new Map(found);
}

/** Reads the names of a declaration, in which anything may be wrong. */
function namedIn(file: YamlFile): Named {
  const { id, aliases, lifecycle } = (file.value ?? {}) as Record<string, unknown>;
  const replacement = (lifecycle as { replacement?: unknown } | null | undefined)?.replacement;
  return {
    file,
    id: typeof id === 'string' ? id : null,
    aliases: Array.isArray(aliases) ? aliases.filter((alias) => typeof alias === 'string') : [],
    replacement: typeof replacement === 'string' ? replacement : null,
  };
}
