import { jest } from '@jest/globals';

// Thousands of tests with real servers share two cores in CI, and one that is starved must not stop a change. Jest
// prints both outcomes: a test that often needs its second run hides a race.
if (process.env.CI) jest.retryTimes(1, { logErrorsBeforeRetry: true });
