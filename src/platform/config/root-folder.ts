import { fileURLToPath } from 'node:url';

/** The folder of package.json, with a slash at the end. `src` and `dist` lie equally deep in it. */
export const ROOT_FOLDER = fileURLToPath(new URL('../../../', import.meta.url));
