import { globSync } from 'node:fs';
import { defineConfig } from 'oxlint';
import { APP_FOLDERS, forbiddenInApp } from './scripts/app-borders.ts';

/**
 * The rooms of `src` and the rooms that each of them may import. docs/architecture.md draws the same table.
 * The files beside the rooms, such as `main.ts` and `start-service.ts`, assemble the rooms and may import all of them.
 */
export const ROOMS: Record<string, readonly string[]> = {
  errors: [],
  platform: ['errors'],
  models: ['auth', 'platform', 'errors'],
  auth: ['platform', 'errors'],
  health: ['auth', 'platform', 'errors'],
  tasks: ['auth', 'models', 'platform', 'errors'],
  files: ['tasks', 'auth', 'models', 'platform', 'errors'],
  providers: ['tasks', 'models', 'platform', 'errors'],
  provenance: ['platform', 'errors'],
  generation: ['provenance', 'providers', 'files', 'tasks', 'auth', 'models', 'platform', 'errors'],
  calls: ['tasks', 'auth', 'platform', 'errors'],
  usage: ['tasks', 'auth', 'models', 'platform', 'errors'],
  webhooks: ['tasks', 'auth', 'platform', 'errors'],
  batches: ['webhooks', 'generation', 'files', 'tasks', 'auth', 'models', 'platform', 'errors'],
  openai: ['batches', 'calls', 'generation', 'files', 'tasks', 'auth', 'models', 'platform', 'errors'],
  mcp: ['calls', 'generation', 'files', 'usage', 'tasks', 'auth', 'models', 'platform', 'errors'],
  operations: ['webhooks', 'generation', 'providers', 'tasks', 'auth', 'models', 'platform', 'errors'],
  dashboard: ['auth', 'platform', 'errors'],
  cli: [
    'operations',
    'batches',
    'usage',
    'webhooks',
    'generation',
    'provenance',
    'providers',
    'files',
    'tasks',
    'auth',
    'models',
    'platform',
    'errors',
  ],
};

/** The folders of src/providers that hold an adapter. */
const ADAPTERS = globSync('src/providers/*/*.provider.ts', { cwd: import.meta.dirname }).map(
  (path) => path.split('/')[2] ?? '',
);

/**
 * The floors of each room: its folders from the lowest up. A file imports its own folder and those before it. The files
 * directly in the room stand on top. Folders in brackets stand side by side and import nothing of each other.
 * A room without floors has no folders.
 */
export const FLOORS: Record<string, readonly (string | readonly string[])[]> = {
  platform: [
    'schema',
    'config',
    'observe',
    'run',
    'images',
    'database',
    'events',
    'storage',
    'outbound',
    'openapi',
    'http',
    'graphql',
  ],
  models: ['definition', 'declaration', 'versions'],
  auth: ['access', 'limits', 'audit', 'credentials', 'api-keys', 'sessions', 'erasure'],
  tasks: ['record', 'sql', 'queue', 'read', 'live', 'insight', 'acts', 'edge'],
  files: ['record', 'sql', 'uploads', 'images', 'content', 'previews', 'archives', 'shares'],
  providers: ['templates', 'contract', 'wire', 'families', 'jobs', ADAPTERS, 'bindings'],
  provenance: ['xmp', 'formats', 'c2pa'],
  generation: ['images', 'accept', 'estimate', 'retry', 'run'],
  calls: ['sql'],
  usage: ['buckets', 'sql'],
  webhooks: ['record', 'sql', 'endpoints', 'deliveries', 'events', 'replays'],
  batches: ['record', 'sql', 'read', 'end', 'create', 'live', 'results'],
  openai: ['request', 'images', 'videos'],
  mcp: ['schemas', 'contract', 'results', 'running', 'tools', 'protocol', 'http'],
  operations: ['views', 'activity', 'processes', 'tasks', 'providers', 'pauses', 'webhooks', 'overview'],
  cli: ['terminal', 'installation', 'client', 'backup', 'export', 'mcp', 'ops', 'commands'],
};

/** Folders that may open connections themselves. Everything else calls out through platform/outbound. */
const MAY_CALL_OUT = ['src/platform/outbound/**', 'src/platform/http/**', 'src/providers/**', 'src/cli/**'];
const mayCallOut = (room: string, floor?: string): boolean =>
  MAY_CALL_OUT.includes(`src/${room}/**`) || MAY_CALL_OUT.includes(`src/${room}/${floor}/**`);

/** How deep folders may nest below a room. An import path is checked by its exact number of `../`. */
const DEPTHS = [1, 2, 3];

interface Pattern {
  regex: string;
  message: string;
}

const CALL_OUT = 'Call out through platform/outbound.';
const HTTP_MODULES = ['undici', 'http', 'https', 'http2', 'node:http', 'node:https', 'node:http2'].map((name) => ({
  name,
  message: CALL_OUT,
  allowTypeImports: true,
}));

const V8_FLAGS = ['v8', 'node:v8'].map((name) => ({
  name,
  importNames: ['setFlagsFromString', 'default'],
  message: 'Only collect-garbage.ts and buffer-garbage.ts set flags of V8.',
}));
const SETS_FLAGS = ['src/platform/run/collect-garbage.ts', 'src/platform/run/buffer-garbage.ts'];

/** Which room uses which package. The service serves the builds of the others. */
const PACKAGES = { sandbox: 'providers', client: 'cli' };
const FOREIGN_FILES = { regex: String.raw`^(?:\.\./)+packages/`, message: 'Packages are imported by their names.' };

/** What a file on a floor must not import of its own room. @param depth how many folders below the room the file lies */
function higherFloors(room: string, floor: string, depth: number): Pattern[] {
  const floors = FLOORS[room]!;
  const own = floors.findIndex((each) => [each].flat().includes(floor));
  const siblings = [floors[own]!].flat().filter((each) => each !== floor);
  const higher = [...siblings, ...floors.slice(own + 1).flat()].map((name) => `${name}/`);
  const up = String.raw`^(?:\.\./)`.concat(`{${depth}}`);
  return [
    { regex: `${up}(?:${[...higher, '[^/]+$'].join('|')})`, message: `src/${room}/${floor} stands below or beside.` },
  ];
}

/** What the files of a room must not import. @param floor theirs, if they do not lie directly in the room */
function forbiddenImports(room: string, depth: number, floor?: string): Pattern[] {
  const root = String.raw`^(?:\.\./)`.concat(`{${depth + 1}}`);
  const others = Object.keys(ROOMS).filter((other) => other !== room);
  const closed = others.filter((other) => !ROOMS[room]?.includes(other));
  return [
    ...(floor === undefined ? [] : higherFloors(room, floor, depth)),
    ...(closed.length > 0
      ? [{ regex: `${root}(?:${closed.join('|')})/`, message: `src/${room} may import ${allowed(room)} only.` }]
      : []),
    ...Object.entries(PACKAGES)
      .filter(([, user]) => user !== room)
      .map(([name, user]) => ({ regex: `^@darkroom/${name}`, message: `Only src/${user} uses packages/${name}.` })),
    FOREIGN_FILES,
    { regex: `${root}(?:${others.join('|')})/(?:.*/)?sql/`, message: 'The SQL of a room is private to it.' },
    {
      regex: `${root}(?:start-service|serve|main|hangup|checked-config|app\\.module|welcome)\\.ts$`,
      message: 'Rooms never import what assembles them.',
    },
  ];
}

const allowed = (room: string): string => ROOMS[room]?.join(', ') || 'nothing of the other rooms';

type Paths = ((typeof V8_FLAGS)[number] | (typeof HTTP_MODULES)[number])[];

const noImports = (patterns: Pattern[], paths: Paths = []) => ({
  'no-restricted-imports': ['error', { patterns, paths: [...V8_FLAGS, ...paths] }] as ['error', object],
});

const files = (room: string, folders: string) => `src/${room}/${folders}*.ts`;

const rooms = Object.keys(ROOMS).map((room) => ({
  files: [files(room, '')],
  rules: noImports(forbiddenImports(room, 0), mayCallOut(room) ? [] : HTTP_MODULES),
}));

const floors = Object.keys(FLOORS).flatMap((room) =>
  FLOORS[room]!.flat().flatMap((floor) =>
    DEPTHS.map((depth) => ({
      files: [files(room, `${floor}/${'*/'.repeat(depth - 1)}`)],
      rules: noImports(forbiddenImports(room, depth, floor), mayCallOut(room, floor) ? [] : HTTP_MODULES),
    })),
  ),
);

const flags = {
  files: SETS_FLAGS,
  rules: {
    'no-restricted-imports': ['error', { patterns: forbiddenImports('platform', 1, 'run'), paths: HTTP_MODULES }] as [
      'error',
      object,
    ],
  },
};

const app = Object.keys(APP_FOLDERS).map((folder) => ({
  files: [`packages/dashboard/src/${folder}/**/*.{ts,tsx}`],
  rules: noImports(forbiddenInApp(folder)),
}));

/** Tests that move or set the time. They never wait, and never measure how long something takes. */
const TIMELESS = ['{src,packages}/**/*.spec.{ts,tsx}', 'test/contract/**', 'test/api/**'];
const NO_CLOCK =
  'A test neither waits nor measures: move the clock (test/support/clock.ts, a date in the database), hold the other side ' +
  'back until the test says so, or wait for what must come with `eventually` (test/support/wait.ts).';
const TIMER_MODULES = ['timers', 'node:timers', 'timers/promises', 'node:timers/promises'].map((name) => ({
  name,
  message: NO_CLOCK,
}));
const TIMERS = ['setTimeout', 'setInterval'];

/** Packages know nothing of the service, nor of each other. */
const packages = {
  files: ['packages/{client,sandbox,viewer}/**/*.ts'],
  rules: noImports([
    { regex: String.raw`^@darkroom/`, message: 'A package imports no other.' },
    {
      regex: String.raw`^(?:\.\./)+(?:src|dist|test|scripts|packages|client|dashboard|sandbox|viewer)/`,
      message: 'A package imports nothing outside of itself.',
    },
  ]),
};

const globals = ['fetch', 'WebSocket', 'EventSource'].map((name) => ({ name, message: CALL_OUT }));

export default defineConfig({
  plugins: ['typescript', 'import', 'unicorn', 'oxc', 'promise', 'react', 'jsx-a11y'],
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    'no-console': 'error',
    eqeqeq: 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'import/no-cycle': 'error',
    'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
    'max-params': ['error', { max: 5 }],
    'typescript/no-extraneous-class': ['error', { allowWithDecorator: true }],
    // The rules from here to `require-await` forbid what is done here on purpose, such as imports for their effect.
    'typescript/consistent-type-imports': 'off',
    'import/no-unassigned-import': 'off',
    'no-underscore-dangle': 'off',
    'no-shadow': 'off',
    'no-control-regex': 'off',
    'oxc/no-async-endpoint-handlers': 'off',
    'unicorn/prefer-add-event-listener': 'off',
    'promise/no-promise-in-callback': 'off',
    'import/no-named-as-default-member': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'require-await': 'off',
    'react/react-in-jsx-scope': 'off', // the compiler imports what it needs
    'react/set-state-in-effect': 'off', // a read starts in an effect
    'react/exhaustive-effect-dependencies': 'off', // some values only trigger an effect
    'react/incompatible-library': 'off', // the virtual list, which no compiler memoizes here
    'jsx-a11y/no-autofocus': 'off', // the one field of a dialog or of a screen
    'jsx-a11y/prefer-tag-over-role': 'off',
  },
  overrides: [
    {
      files: ['src/**'],
      rules: {
        'no-restricted-globals': ['error', ...globals],
        'no-restricted-properties': [
          'error',
          { object: 'globalThis', property: 'fetch', message: CALL_OUT },
          { property: 'setFlagsFromString', message: 'Only collect-garbage.ts and buffer-garbage.ts set flags of V8.' },
          ...['cork', 'uncork'].map((property) => ({
            property,
            message: 'The sockets of other packages are private.',
          })),
        ],
        // Such a name is private to the package that it comes from. These are documented, by MCP, GraphQL and the router.
        'no-underscore-dangle': ['error', { allow: ['_meta', '__typename', '__TSR_key'] }],
      },
    },
    { files: ['src/*.ts'], rules: noImports([]) },
    ...rooms,
    ...floors,
    flags,
    ...app,
    packages,
    {
      files: ['packages/dashboard/src/api/**', 'packages/dashboard/src/live/**'],
      rules: { 'no-restricted-globals': 'off' },
    },
    {
      files: MAY_CALL_OUT,
      rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
    },
    {
      files: [
        'scripts/**',
        'src/cli/**',
        'benchmarks/**',
        'test/soak/**',
        'test/outside/client/project/**',
        'test/outside/client/generators/**',
        'test/outside/client/runtimes/**',
      ],
      rules: { 'no-console': 'off' },
    },
    {
      // Nest fills these parameters: injected services and decorated parts of a request.
      files: [
        'src/**/*.{controller,resolver,service,worker}.ts',
        'src/batches/create/create-batches.ts',
        'src/generation/run/{run-task,store-outputs,task-claimer}.ts',
        'src/operations/{providers/operator-providers,tasks/operator-tasks}.ts',
        'src/tasks/acts/task-batches.ts',
        'src/tasks/queue/task-queue.ts',
        'src/webhooks/events/task-end-recorder.ts',
      ],
      rules: { 'max-params': 'off' },
    },
    {
      files: ['**/*.spec.ts', '**/*.e2e-spec.ts', 'test/**', 'benchmarks/**'],
      rules: {
        'max-lines': 'off',
        'max-params': 'off',
        'no-restricted-imports': 'off',
        'no-restricted-globals': 'off',
        'no-restricted-properties': 'off',
      },
    },
    {
      files: TIMELESS,
      rules: {
        'no-restricted-imports': ['error', { paths: TIMER_MODULES }],
        'no-restricted-globals': ['error', ...TIMERS.map((name) => ({ name, message: NO_CLOCK }))],
        'no-restricted-properties': [
          'error',
          { object: 'performance', property: 'now', message: NO_CLOCK },
          ...TIMERS.map((property) => ({ object: 'globalThis', property, message: NO_CLOCK })),
        ],
      },
    },
  ],
  ignorePatterns: [
    'dist',
    'node_modules',
    'coverage',
    'packages/client/src/types.gen.ts',
    'src/cli/mcp/answers.gen.ts',
  ],
});
