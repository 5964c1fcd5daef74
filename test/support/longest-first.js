import Sequencer from '@jest/test-sequencer';

// In JavaScript like jest.config.js: the types of the package name another export than Node finds.

/** Test files that take over half a minute, most of it waiting. Started last, one of them alone would prolong the run. */
const LONGEST = ['workers', 'screens', 'composer', 'speed'].map((name) => `test/outside/dashboard/${name}.`);

const isLongest = ({ path }) => LONGEST.some((part) => path.includes(part));

/** Jest knows how long files take only after it has run them once on this machine. */
export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    return [...sorted.filter(isLongest), ...sorted.filter((test) => !isLongest(test))];
  }
}
