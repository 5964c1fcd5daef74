import { fileURLToPath } from 'node:url';

/** The folder of package.json, with a slash at the end. The path to it is the same from `src` and from `dist`. */
export const ROOT_FOLDER = fileURLToPath(new URL('../../../', import.meta.url));
