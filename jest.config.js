import { readFileSync } from 'node:fs';

// The compiler settings of the build, but with the specs, and with imports that keep the .ts extension.
const {
  exclude: _specs,
  $schema: _schema,
  ...swc
} = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
swc.jsc.rewriteRelativeImportExtensions = false;

export default {
  testEnvironment: 'node',
  rootDir: '.',
  testMatch: [
    '<rootDir>/{src,packages}/**/*.spec.ts',
    '<rootDir>/test/**/*.spec.ts',
    '<rootDir>/test/**/*.e2e-spec.ts',
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/packages/[^/]+/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  transform: { '\\.ts$': ['@swc/jest', { ...swc, swcrc: false, sourceMaps: 'inline' }] },
  testSequencer: '<rootDir>/test/support/longest-first.js',
  testTimeout: 300_000, // only for tests that hang; a busy machine is slow
  workerIdleMemoryLimit: '1GB', // modules of finished tests stay in memory, and hundreds of files ended a worker
  maxWorkers: 4, // most tests wait for a server, so two cores can run four
};
