import { CommanderError } from 'commander';
import { BadRequestError, ConnectionError, TaskFailedError, WaitTimeoutError } from '@darkroom/client';
import { exitCodeOf, UnsuccessfulError } from './exit-codes.ts';
import { failureText } from './failure-text.ts';

const refusal = new BadRequestError('n must be from 1 to 10.', {
  status: 400,
  code: 'value_out_of_range',
  type: 'invalid_request_error',
  param: 'n',
  requestId: 'r',
});
const away = new ConnectionError('http://127.0.0.1:3000 cannot be reached.', new TypeError('fetch failed'));
const failed = (retryable: boolean) =>
  new TaskFailedError({ task_id: 'task_1', error: { code: 'worker_lost', message: 'Lost.', retryable } } as never);

describe('the error on a terminal', () => {
  it.each([
    [refusal, 'value_out_of_range (n): n must be from 1 to 10.'],
    [
      away,
      'http://127.0.0.1:3000 cannot be reached. Start the service, or name its address with --url or DARKROOM_URL.',
    ],
    [failed(true), 'worker_lost: Lost. It may succeed: npx darkroom tasks retry task_1'],
    [failed(false), 'worker_lost: Lost.'],
    [
      new WaitTimeoutError('task_1', 500),
      'task_1 did not end within 500 ms. It goes on. Wait again: npx darkroom tasks wait task_1',
    ],
    [new Error('a', { cause: new Error('b') }), 'a (b)'],
    [new Error('file b.', { cause: new Error('b') }), 'file b.'],
  ])('%s is one line', (error, text) => expect(failureText(error)).toBe(text));

  it('names the first items of a batch that are wrong', () => {
    const error = Object.assign(refusal, { errors: [{ index: 3, code: 'invalid_value', message: 'No.' }] });
    expect(failureText(error)).toContain('Item 3: invalid_value: No.');
  });
});

describe('the exit code', () => {
  it.each([
    [1, refusal],
    [1, new Error('anything')],
    [2, new CommanderError(1, 'commander.unknownOption', '')],
    [0, new CommanderError(0, 'commander.helpDisplayed', '')],
    [3, failed(true)],
    [3, new UnsuccessfulError('1 of 2')],
    [4, away],
    [5, new WaitTimeoutError('task_1', 500)],
  ])('%i says what happened', (code, error) => expect(exitCodeOf(error)).toBe(code));
});
