import Sequencer from '@jest/test-sequencer';

// This file is JavaScript, like jest.config.js, because the types of the package name another export than Node finds.

/**
 * Test files that take more than half a minute, mostly waiting. If one of them started last, it alone would prolong the
 * run.
 */
const LONGEST = ['workers', 'screens', 'composer', 'speed'].map((name) => `test/outside/dashboard/${name}.`);

const isLongest = ({ path }) => LONGEST.some((part) => path.includes(part));

/** Starts these files first. Jest knows the duration of a file only after its first run on this machine. */
export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    return [...sorted.filter(isLongest), ...sorted.filter((test) => !isLongest(test))];
  }
}
