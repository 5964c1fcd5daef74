import { readFileSync } from 'node:fs';

// The build's compiler settings, but with the specs, and with imports that go on naming the .ts files.
const {
  exclude: _specs,
  $schema: _schema,
  ...swc
} = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
swc.jsc.rewriteRelativeImportExtensions = false;

export default {
  testEnvironment: 'node',
  rootDir: '.',
  testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/**/*.spec.ts', '<rootDir>/test/**/*.e2e-spec.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  transform: { '\\.ts$': ['@swc/jest', { ...swc, swcrc: false, sourceMaps: 'inline' }] },
  testTimeout: 120_000, // bounds what hangs; a busy machine may take its time
  maxWorkers: 3, // most tests wait for a server; two cores serve three of them
};
