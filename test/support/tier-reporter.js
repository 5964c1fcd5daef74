const SLOWEST = 10;

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const nameOf = (path, rootDir) => path.slice(rootDir.length + 1);

/** Prints failures at once. At the end it prints a line for the run and its slowest files. */
export default class TierReporter {
  constructor({ rootDir, seed }) {
    this.rootDir = rootDir;
    this.seed = seed;
  }

  onTestResult(_test, { failureMessage }) {
    if (failureMessage) process.stderr.write(`${failureMessage}\n`);
  }

  onRunComplete(
    _contexts,
    { numPassedTests, numFailedTests, numPendingTests, testResults, startTime, numRuntimeErrorTestSuites },
  ) {
    const slowest = testResults
      .map(({ testFilePath, perfStats }) => ({ name: nameOf(testFilePath, this.rootDir), ms: perfStats.runtime }))
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, SLOWEST);
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const lines = [
      `${testResults.length} files in ${seconds(Date.now() - startTime)}; the slowest:`,
      ...slowest.map(({ name, ms }) => `  ${seconds(ms).padStart(8)}  ${name}`),
      `${numPassedTests} passed, ${failed} failed${numPendingTests > 0 ? `, ${numPendingTests} skipped` : ''}`,
    ];
    if (failed > 0) lines.unshift(`To repeat the order of this run: --seed=${this.seed}`);
    process.stdout.write(`${lines.join('\n')}\n`);
  }
}
