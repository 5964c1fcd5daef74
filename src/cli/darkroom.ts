#!/usr/bin/env node
/** The command of the package. It is in the bundle with the service, so that an installation needs no package that the bundle holds. */
import { createRequire } from 'node:module';

createRequire(import.meta.url)('../bundle/darkroom.cjs');
