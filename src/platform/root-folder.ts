import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/**
 * The folder of package.json, with a slash at its end: the same from the sources, from the built modules and from their
 * bundle.
 */
export const ROOT_FOLDER = `${dirname(findPackageJSON(import.meta.url)!)}/`;
