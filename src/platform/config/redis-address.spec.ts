import { readRedisAddress } from './redis-address.ts';

const nobody = { username: undefined, password: undefined };

describe('the address of Redis', () => {
  it.each([
    ['redis://a', 'server', false, [{ host: 'a', port: 6379 }], null],
    ['rediss://a:7000/2', 'server', true, [{ host: 'a', port: 7000 }], null],
    ['redis+tls://[::1]:7000', 'server', true, [{ host: '::1', port: 7000 }], null],
    [
      'redis+sentinel://a,b:7000,10.0.0.3/main',
      'sentinel',
      false,
      [
        { host: 'a', port: 26379 },
        { host: 'b', port: 7000 },
        { host: '10.0.0.3', port: 26379 },
      ],
      'main',
    ],
    ['redis+sentinel+tls://a/my-master.1', 'sentinel', true, [{ host: 'a', port: 26379 }], 'my-master.1'],
    [
      'redis+cluster://a,b:7001',
      'cluster',
      false,
      [
        { host: 'a', port: 6379 },
        { host: 'b', port: 7001 },
      ],
      null,
    ],
    ['redis+cluster+tls://a/', 'cluster', true, [{ host: 'a', port: 6379 }], null],
  ])('reads %s', (text, kind, isTls, hosts, masterName) => {
    expect(readRedisAddress(text)).toEqual({ kind, isTls, hosts, masterName, user: nobody, sentinelUser: nobody });
  });

  it('reads users of the servers and of the sentinels, percent-encoded', () => {
    const text = 'redis+sentinel://me:a%2Fb%40:c@h/main?sentinel_username=s&sentinel_password=p%26q';
    expect(readRedisAddress(text)).toMatchObject({
      user: { username: 'me', password: 'a/b@:c' },
      sentinelUser: { username: 's', password: 'p&q' },
    });
    expect(readRedisAddress('redis://:hunter2@h').user).toEqual({ username: undefined, password: 'hunter2' });
  });

  it.each([
    ['http://me:hunter2@a', /^must be an address starting with redis:\/\/, .* or redis\+cluster\+tls:\/\/$/],
    ['me:hunter2@a', /^must be an address starting with/],
    ['redis-sentinel://me:hunter2@a/main', /^must be an address starting with/],
    ['redis://me:hunter2@a,b', /^must name one host/],
    ['redis://', /^has a wrong host \(1 of 1\)/],
    ['redis+cluster://me:hunter2@a,,b', /^has a wrong host \(2 of 3\)/],
    ['redis+cluster://me:hunter2@a,b:70000', /^has a wrong host \(2 of 2\).*:port unless it is 6379/],
    ['redis+sentinel://me:hunter/2@a/main', /^has a wrong host .*percent-encoded$/],
    ['redis+sentinel://me:hunter2@a,b', /^must end with the name of the master/],
    ['redis+sentinel://me:hunter2@a,b/main/0', /^must end with the name of the master/],
    ['redis+cluster://me:hunter2@a/0', /^must have nothing after the hosts/],
    ['redis://me:hunter2@a/main', /^must have nothing after the host but the number of a database$/],
    ['redis://me:hunter%2@a', /^must have user name and password percent-encoded$/],
    ['redis://a?password=hunter2', /^takes no parameters/],
    ['redis+sentinel://a/main?sentinelPassword=hunter2', /^takes only the parameters sentinel_username and sentinel_p/],
  ])('refuses %s without repeating it', (text, fault) => {
    let message = '';
    try {
      readRedisAddress(text);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toMatch(fault);
    expect(message).not.toContain('hunter');
  });
});
