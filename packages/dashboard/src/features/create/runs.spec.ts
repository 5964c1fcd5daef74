import { jest } from '@jest/globals';

Reflect.deleteProperty(globalThis, 'BroadcastChannel'); // an open one would keep the test from its end
const { lostSession, restore } = await import('../../api/session.ts');
const { currentRuns, startRuns } = await import('./runs.ts');

/** The API key whose cookie the browser has. */
let cookie: string;
/** The API keys as which creations were sent. None gets an answer. */
let sentAs: string[];
/** Each test has another prompt, because equal presses may be one. */
let prompt = 0;

beforeEach(() => {
  jest.useFakeTimers();
  sentAs = [];
  jest.spyOn(globalThis, 'fetch').mockImplementation((url) => {
    if (url === '/v1/session') return Promise.resolve(Response.json({ api_key: { id: cookie } }));
    sentAs.push(cookie);
    return Promise.reject(new TypeError('cut'));
  });
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

async function signInAs(key: string): Promise<void> {
  cookie = key;
  await restore();
}

/** Why a run of `key_a` ended, if this happens after its first attempt has failed. */
async function faultsOf(meanwhile: () => unknown) {
  await signInAs('key_a');
  const started = startRuns([{ model: 'm', prompt: `p${(prompt += 1)}` }], null);
  await jest.advanceTimersByTimeAsync(0);
  await meanwhile();
  await jest.advanceTimersByTimeAsync(60_000);
  return started;
}

const noAnswer = [expect.objectContaining({ code: 'no_response' })];

describe('a run without an answer', () => {
  it('is sent four times, also if its key has signed in again meanwhile', async () => {
    const faults = await faultsOf(() => {
      lostSession();
      return signInAs('key_a');
    });
    expect(faults).toEqual(noAnswer);
    expect(sentAs).toEqual(Array(4).fill('key_a'));
  });

  it('is not sent again once another key has signed in', async () => {
    expect(await faultsOf(() => signInAs('key_b'))).toEqual(noAnswer);
    expect(sentAs).toEqual(['key_a']);
  });

  it('is not sent again without a session, because the cookie may be that of another key', async () => {
    const faults = await faultsOf(() => {
      lostSession();
      cookie = 'key_b';
    });
    expect(faults).toEqual(noAnswer);
    expect(sentAs).toEqual(['key_a']);
  });
});

describe('an equal press', () => {
  it('is the same press for 0.4 s, and another one later or with anything else', async () => {
    await signInAs('key_a');
    const press = (parent: string | null = null) => startRuns([{ model: 'm', prompt: 'twice' }], parent);
    const count = () => currentRuns().filter(({ request }) => request.prompt === 'twice').length;
    expect(press()).toBe(press());
    expect(count()).toBe(1);
    void press('task_a');
    expect(count()).toBe(2);
    await jest.advanceTimersByTimeAsync(400);
    void press('task_a');
    expect(count()).toBe(3);
    await jest.advanceTimersByTimeAsync(60_000);
  });
});
