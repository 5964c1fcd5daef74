import { existsSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { readTextFile } from './text-file.ts';

/** The variables of the process, and those of the file `.env`. A variable of the process takes precedence. */
export class Environment {
  private readonly given = { ...process.env };

  constructor(private readonly file = '.env') {}

  /**
   * Reads the file at each call, because the file may have changed.
   * @throws Error that names the file if the file cannot be read
   */
  read(): NodeJS.ProcessEnv {
    if (!existsSync(this.file)) return this.given;
    try {
      return { ...parseEnv(readTextFile(this.file)), ...this.given };
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new Error(`The file ${this.file} cannot be read (${code}).`, { cause });
    }
  }
}
