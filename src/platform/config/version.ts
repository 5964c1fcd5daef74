import { readFileSync } from 'node:fs';
import { ROOT_FOLDER } from './root-folder.ts';

/** The version of this program, from package.json. */
export const { version: VERSION } = JSON.parse(readFileSync(`${ROOT_FOLDER}package.json`, 'utf8')) as {
  version: string;
};
