import { rm } from 'node:fs/promises';
import { type Plugin, rolldown } from 'rolldown';
import { writePackages } from './bundled-packages.ts';

/** The service, the command line, and the threads of the service, which are files beside the module that starts them. */
const ENTRIES = {
  main: 'main.js',
  darkroom: 'cli/run-darkroom.js',
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

/**
 * 2 MB that packages load and we never use: the messages of zod in other languages, the check of phone numbers, TypeORM's
 * drivers of other databases, mocks and sockets of undici.
 */
const UNUSED: Plugin = {
  name: 'unused',
  load: {
    filter: {
      id: [
        /zod\/v4\/locales\/index\.js$/,
        /libphonenumber-js\/max\/index\.cjs$/,
        /typeorm\/driver\/(?!postgres\/|types\/)[^/]+\/\w+(Driver|QueryRunner)\.js$/,
        /undici\/lib\/(mock|web\/eventsource|web\/websocket)\//,
      ],
    },
    handler: () => '',
  },
};

/** pino asks who called it, for transports, which we do not use. The answer makes V8 keep a list of all lines: 1.5 MB. */
const NO_CALLERS: Plugin = {
  name: 'no-callers',
  load: { filter: { id: /pino\/lib\/caller\.js$/ }, handler: () => 'module.exports = () => [];' },
};

/** Nest makes two formats of dates for its own loggers, which we replace. They take 7 MB, so they are made when they are used. */
const LATE_FORMATS: Plugin = {
  name: 'late-formats',
  transform: {
    filter: { id: /@nestjs\/common\/services\/(console-)?logger\.service\.js$/ },
    handler: (code) => {
      const late = code.replace(
        /const dateTimeFormatter = (new Intl\.DateTimeFormat\([^]*?\}\));/,
        'const dateTimeFormatter = { format: (time) => $1.format(time) };',
      );
      if (late === code) throw new Error('Nest makes its formats of dates in another way: see LATE_FORMATS.');
      return late;
    },
  },
};

/** The compiler puts a copy of each helper into each module with decorators, 0.4 MB in all. The bundle has one of each. */
function shareHelpers(): Plugin {
  const helpers = new Map<string, string>();
  const id = /^helper:/;
  return {
    name: 'share-helpers',
    resolveId: { filter: { id }, handler: (name) => name },
    load: { filter: { id }, handler: (name) => `export ${helpers.get(name)}` },
    transform: {
      filter: { code: /^function _ts_/m },
      handler: (code) =>
        code.replaceAll(/^function (_ts_decorate|_ts_metadata|_ts_param)\([^]*?^\}\n/gm, (text, name: string) => {
          helpers.set(`helper:${name}`, text);
          return `import { ${name} } from 'helper:${name}';\n`;
        }),
    },
  };
}

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
    plugins: [TYPEORM_COMPAT, UNUSED, NO_CALLERS, LATE_FORMATS, shareHelpers()],
    // Decorators work by side effects.
    treeshake: false,
    onLog: (level, log, print) => {
      if (log.code !== EXPECTED) print(level, log);
    },
  });
  const { output } = await program.write({
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
  await writePackages(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])));

  const launcher = await rolldown({ input: `${built}launch.js`, platform: 'node' });
  await launcher.write({ file: `${folder}/main.js` });
  await launcher.close();
}
