import { createRequire } from 'node:module';
import type sharp from 'sharp';

const require = createRequire(import.meta.url);

/** Loaded by the first picture: an idle process does without the 10 MB of libvips, and a start without loading it. */
export const loadSharp = (): typeof sharp => require('sharp') as typeof sharp;
