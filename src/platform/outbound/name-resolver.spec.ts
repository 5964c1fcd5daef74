import { addressesIn } from './name-resolver.ts';

const HOSTS = `
127.0.0.1\tlocalhost   # this machine
::1  localhost ip6-localhost
#10.0.0.9 disabled
172.17.0.1 Host.Docker.Internal gateway
10.0.0.5 db # not gateway
nonsense db
`;

it.each([
  ['localhost', ['127.0.0.1', '::1']],
  ['ip6-localhost', ['::1']],
  ['host.docker.internal', ['172.17.0.1']],
  ['HOST.docker.internal.', ['172.17.0.1']],
  ['gateway', ['172.17.0.1']],
  ['db', ['10.0.0.5']],
  ['disabled', []],
  ['this', []],
  ['10.0.0.5', []],
  ['', []],
])('reads %j from the hosts file as %j', (name, addresses) => expect(addressesIn(HOSTS, name)).toEqual(addresses));
