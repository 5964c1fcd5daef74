import { ApiError } from '../../errors/api-error.ts';
import { SignInTries } from './sign-in-tries.ts';

const fails = (code: ConstructorParameters<typeof ApiError>[0]) => async () => {
  throw new ApiError(code);
};

describe('the sign-ins of an address', () => {
  const codes = async (tries: SignInTries, count: number, signIn: () => Promise<unknown>) => {
    const results = Array.from({ length: count }, () =>
      tries.run('192.0.2.1', signIn).then(
        () => 'ok',
        ({ code }) => code,
      ),
    );
    return Promise.all(results);
  };

  it('are refused after ten wrong secrets, also at the same moment', async () => {
    const answers = await codes(new SignInTries(), 12, fails('invalid_api_key'));
    expect(answers.filter((code) => code === 'rate_limit_exceeded')).toHaveLength(2);
  });

  it('do not count when the database could not say', async () => {
    const tries = new SignInTries();
    await codes(tries, 10, fails('service_unavailable'));
    await codes(tries, 10, () => Promise.reject(new Error('broken')));
    expect(await codes(tries, 1, async () => undefined)).toEqual(['ok']);
  });
});
