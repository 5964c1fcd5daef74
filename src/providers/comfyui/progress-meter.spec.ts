import { ProgressMeter } from './progress-meter.ts';

const update = (meter: ProgressMeter, ...messages: [string, Record<string, unknown>][]) =>
  messages.map(([type, data]) => {
    meter.update({ type, data });
    return meter.percent;
  });

it('counts finished nodes and the share of the active node, for servers that report node by node', () => {
  const meter = new ProgressMeter(['load', 'sample', 'decode', 'save']);
  const percents = update(
    meter,
    ['execution_start', {}],
    ['execution_cached', { nodes: ['load'] }],
    ['executing', { node: 'sample' }],
    ['progress', { node: 'sample', value: 1, max: 2 }],
    ['executing', { node: 'decode' }],
    ['executing', { node: 'save' }],
    ['executing', { node: null }],
  );
  expect(percents).toEqual([0, 25, 25, 37.5, 50, 75, 100]);
  expect(meter.ended).toBe(true);
});

it('reads the state of all nodes, for servers that report them together', () => {
  const meter = new ProgressMeter(['load', 'sample']);
  const state = (state: string, value: number) => ({ state, value, max: 4 });
  const percents = update(
    meter,
    ['progress_state', { nodes: { load: state('finished', 1), sample: state('running', 1) } }],
    ['progress_state', { nodes: { load: state('finished', 1), sample: state('running', 3) } }],
    ['progress_state', { nodes: { load: state('finished', 1), 'sample.0.1': state('finished', 4) } }],
  );
  expect(percents).toEqual([62.5, 87.5, 87.5]);
});

it.each(['execution_success', 'execution_error', 'execution_interrupted'])('ends with %s', (type) => {
  const meter = new ProgressMeter(['a']);
  update(meter, [type, {}]);
  expect(meter.ended).toBe(true);
});

it('never decreases, and ignores invalid messages', () => {
  const meter = new ProgressMeter(['a', 'b']);
  update(meter, ['progress', { node: 'a', value: 3, max: 4 }]);
  const percents = update(
    meter,
    ['progress', { node: 'a', value: 1, max: 4 }],
    ['progress', { node: 'a', value: 9, max: 0 }],
    ['progress', { node: 7, value: 'x' }],
    ['progress_state', { nodes: [] }],
    ['progress_state', { nodes: { a: null } }],
    ['execution_cached', {}],
    ['progress', { node: 'b', value: 9, max: 4 }],
  );
  expect(percents.slice(0, 6)).toEqual([37.5, 37.5, 37.5, 37.5, 37.5, 37.5]);
  expect(percents[6]).toBe(87.5);
});
