import { rm } from 'node:fs/promises';
import { type Plugin, rolldown } from 'rolldown';

/** The program and the threads that it starts, which are files beside the module that starts them. */
const ENTRIES = {
  main: 'main.js',
  'render.thread': 'sandbox/render.thread.js',
  'film.thread': 'sandbox/film.thread.js',
  'sign.thread': 'provenance/c2pa/sign.thread.js',
};

/**
 * What stays in node_modules: packages with native or wasm files, one that must be evaluated before all decorators, and
 * one whose CommonJS build hides its `require` from bundlers.
 */
const EXTERNAL = /^(node:|sharp$|@napi-rs\/canvas$|@contentauth\/|reflect-metadata$|jsonc-parser$)/;

/** Optional peers that are not installed. Their packages ask for them only when they are configured. */
const EXPECTED = 'UNRESOLVED_IMPORT';

/** Nest's package loads TypeORM a second time here, for two names that TypeORM 1 no longer has. */
const TYPEORM_COMPAT: Plugin = {
  name: 'typeorm-compat',
  load: {
    filter: { id: /@nestjs\/typeorm\/dist\/common\/typeorm-compat\.js$/ },
    handler: () => 'export const Connection = undefined, AbstractRepository = undefined;',
  },
};

/** 1 MB that packages load and we never use: the messages of zod in other languages, and the check of phone numbers. */
const UNUSED: Plugin = {
  name: 'unused',
  load: {
    filter: { id: /(zod\/v4\/locales\/index\.js|libphonenumber-js\/max\/index\.cjs)$/ },
    handler: () => '',
  },
};

/**
 * Puts the built modules and their packages into a few files, in `bundle` of the same folder: reading 4,000 files one
 * by one took most of the start. What is imported dynamically stays in files of its own. They are CommonJS, so that
 * `launch.ts`, which becomes main.js, can load them with the code that V8 has compiled before.
 * @param built folder of the built modules, with a slash at its end
 */
export async function bundleProgram(built: string): Promise<void> {
  const folder = `${built}bundle`;
  await rm(folder, { recursive: true, force: true });
  const program = await rolldown({
    input: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, built + file])),
    platform: 'node',
    external: EXTERNAL,
    plugins: [TYPEORM_COMPAT, UNUSED],
    // Decorators work by side effects.
    treeshake: false,
    onLog: (level, log, print) => {
      if (log.code !== EXPECTED) print(level, log);
    },
  });
  await program.write({
    dir: folder,
    format: 'cjs',
    dynamicImportInCjs: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    // The process keeps the text of its files, and needs half the memory for it if all of it is ASCII.
    charset: 'ascii',
    comments: false,
    // Nest and TypeORM read the names of classes.
    keepNames: true,
    // As without a bundle: a file is evaluated after what it imports.
    strictExecutionOrder: true,
  });
  await program.close();

  const launcher = await rolldown({ input: `${built}launch.js`, platform: 'node' });
  await launcher.write({ file: `${folder}/main.js` });
  await launcher.close();
}
