import { connectTimeoutOf, hostsOf } from './database-hosts.ts';

const named = (url: string): string[] => hostsOf(url).hosts.map(({ name }) => name);
const WRITES = '?target_session_attrs=read-write';

describe('the hosts of a database URL', () => {
  it('are one, with the URL as it was given', () => {
    for (const url of ['postgres://me:p@db/darkroom', 'postgres://me@db:6432/x?sslmode=require', 'postgresql:///x']) {
      expect(hostsOf(url)).toEqual({ hosts: [expect.objectContaining({ url })], isPrimaryWanted: false });
    }
  });

  it('are several, each with a URL of its own', () => {
    expect(hostsOf(`postgres://me:p%2C@a:5433,b/darkroom${WRITES}&sslmode=require`)).toEqual({
      hosts: [
        { name: 'a:5433', url: 'postgres://me:p%2C@a:5433/darkroom?sslmode=require' },
        { name: 'b:5432', url: 'postgres://me:p%2C@b:5432/darkroom?sslmode=require' },
      ],
      isPrimaryWanted: true,
    });
  });

  it.each([
    [`postgres://me:p@[::1]:5433,[fd00::2]/x${WRITES}`, ['[::1]:5433', '[fd00::2]:5432']],
    [`postgres://me:a,b@db/x${WRITES}`, ['db:5432']],
    [`postgres://me:a@b,c@one,two/x${WRITES}`, ['one:5432', 'two:5432']],
    ['postgres://a,b/x?target_session_attrs=primary', ['a:5432', 'b:5432']],
    [`postgres://a,b${WRITES}`, ['a:5432', 'b:5432']],
  ])('of %s', (url, names) => {
    expect(named(url)).toEqual(names);
  });

  it('need no encryption with sslmode=prefer or allow', () => {
    const hosts = ['prefer', 'allow', 'prefer&uselibpqcompat=true', 'require', 'disable'].map(
      (mode) => hostsOf(`postgres://me:a,b@db/x?sslmode=${mode}`).hosts[0],
    );
    expect(hosts.map(({ url, plainUrl }) => [url, plainUrl].map((each) => each?.split('?')[1]))).toEqual([
      ['sslmode=no-verify', 'sslmode=disable'],
      ['sslmode=no-verify', 'sslmode=disable'],
      ['sslmode=prefer&uselibpqcompat=true', 'sslmode=disable&uselibpqcompat=true'],
      ['sslmode=require', undefined],
      ['sslmode=disable', undefined],
    ]);
    expect(hosts[0]!.plainUrl).toBe('postgres://me:a,b@db/x?sslmode=disable');
  });

  it.each([
    ['postgres://me:p%3Fconnect_timeout=9@db/x', undefined],
    ['postgres://db/x?connect_timeout=7', 7_000],
    [`postgres://a,b/x${WRITES}&connect_timeout=600`, 600_000],
  ])('are waited for as %s says', (url, ms) => {
    expect(connectTimeoutOf(url)).toBe(ms);
  });

  it.each(['0', '601', '1.5', '-1', ''])('are not waited for %s seconds', (given) => {
    const fault = `must have a connect_timeout of 1 to 600 seconds, not "${given}"`;
    expect(() => connectTimeoutOf(`postgres://db/x?connect_timeout=${given}`)).toThrow(fault);
  });

  it('are one whose password has a comma', () => {
    expect(named('postgres://me:a,b@db:5432/x')).toEqual(['db:5432']);
  });

  it.each([
    ['mysql://a,b/x', 'must be an address starting with postgres://'],
    ['postgres://a,b/x', 'must have ?target_session_attrs=read-write when it names several hosts'],
    ['postgres://a,b/x?target_session_attrs=any', 'must have target_session_attrs=read-write, not "any"'],
    ['postgres://a/x?target_session_attrs=standby', 'not "standby"'],
    [`postgres://a,,b/x${WRITES}`, '"" is none'],
    [`postgres://a,b:x/x${WRITES}`, '"b:x" is none'],
    [`postgres://a,b:70000/x${WRITES}`, '"b:70000" is none'],
    [`postgres://a,::1/x${WRITES}`, '"::1" is none'],
    [`postgres://a,b,a:5432/x${WRITES}`, 'names a:5432 twice'],
    [`postgres://a,b/x${WRITES}&host=c`, 'must name its hosts before the path'],
    [`postgres://${'abcdefghi'.split('').join(',')}/x${WRITES}`, 'must name at most 8 hosts, not 9'],
  ])('are refused in %s', (url, message) => {
    expect(() => hostsOf(url)).toThrow(message);
  });

  it('are refused without the password', () => {
    expect(() => hostsOf('postgres://me:hunter3@a,b:x/x')).not.toThrow('hunter3');
  });
});
