import { ApiError } from '../../errors/api-error.ts';
import { SignInTries } from './sign-in-tries.ts';

const fails = (code: ConstructorParameters<typeof ApiError>[0]) => async () => {
  throw new ApiError(code);
};

describe('the sign-ins of an address', () => {
  const waiting = new AbortController().signal;
  const one = (tries: SignInTries, signIn: () => Promise<unknown>, address = '192.0.2.1') =>
    tries.run(address, waiting, signIn).then(
      () => 'ok',
      ({ code }) => code as string,
    );
  const codes = (tries: SignInTries, count: number, signIn: () => Promise<unknown>) =>
    Promise.all(Array.from({ length: count }, () => one(tries, signIn)));

  it('are refused after ten wrong secrets, also at the same moment', async () => {
    const answers = await codes(new SignInTries(), 12, fails('invalid_api_key'));
    expect(answers.filter((code) => code === 'rate_limit_exceeded')).toHaveLength(2);
  });

  it('with a right secret are never refused: not many at once, and not after wrong ones', async () => {
    const tries = new SignInTries();
    const together = await Promise.all([
      codes(tries, 200, async () => undefined),
      codes(tries, 20, fails('invalid_api_key')),
    ]);
    expect(new Set(together[0])).toEqual(new Set(['ok']));
    expect(await codes(tries, 1, async () => undefined)).toEqual(['ok']);
  });

  it('take turns with those of other addresses', async () => {
    const tries = new SignInTries();
    const ends: string[] = [];
    const signIn = (address: string) => one(tries, async () => void ends.push(address), address);
    await Promise.all([...Array.from({ length: 100 }, () => signIn('192.0.2.1')), signIn('192.0.2.2')]);
    expect(ends.indexOf('192.0.2.2')).toBeLessThan(20);
  });

  it('do not count when the database could not say', async () => {
    const tries = new SignInTries();
    await codes(tries, 10, fails('service_unavailable'));
    await codes(tries, 10, () => Promise.reject(new Error('broken')));
    expect(await codes(tries, 10, fails('invalid_api_key'))).not.toContain('rate_limit_exceeded');
  });
});
