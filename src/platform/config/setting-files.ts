import { readTextFile } from './text-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** undefined when unset or empty: for most settings `NAME=` in a file means the same as no line. */
export function textOf(env: Env, variable: string): string | undefined {
  return env[variable]?.trim() || undefined;
}

/**
 * Returns the environment, with the values of `variables` that are in files. `NAME_FILE` names the file with the value
 * of NAME, because Docker and Kubernetes mount secrets as files. Only `variables` are read in this way: a name such as
 * `SSL_CERT_FILE` belongs to other programs.
 */
export function withFiles(env: Env, variables: readonly string[], faults: string[]): Env {
  const read = { ...env };
  for (const variable of variables) {
    try {
      read[variable] = fromFile(env, variable) ?? env[variable];
    } catch (error) {
      faults.push((error as Error).message);
    }
  }
  return read;
}

/**
 * @returns the trimmed content of the file that `NAME_FILE` names; undefined when `NAME_FILE` is unset
 * @throws Error for the operator, without the content: NAME is set too, or the file cannot be read or is empty
 */
export function fromFile(env: Env, variable: string): string | undefined {
  const path = textOf(env, `${variable}_FILE`);
  if (path === undefined) return undefined;
  if (textOf(env, variable) !== undefined) throw new Error(`${variable} and ${variable}_FILE are both set: keep one`);
  let content: string;
  try {
    content = readTextFile(path).trim();
  } catch (error) {
    throw new Error(`${variable}_FILE: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, {
      cause: error,
    });
  }
  if (content === '') throw new Error(`${variable}_FILE: ${path} is empty`);
  return content;
}
