import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** The variables that the process was started with, and those of the file `.env`, which they take precedence over. */
export class Environment {
  private readonly given = { ...process.env };

  constructor(private readonly file = '.env') {}

  /** Reads the file again at each call: it may have changed. */
  read(): NodeJS.ProcessEnv {
    return existsSync(this.file) ? { ...parseEnv(readFileSync(this.file, 'utf8')), ...this.given } : this.given;
  }
}
