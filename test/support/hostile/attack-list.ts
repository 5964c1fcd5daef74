import { networkInterfaces } from 'node:os';

/** Every known way to write the address of this machine or its network, without a port. */
const HOSTS = [
  // Loopback in every notation of IPv4: short, decimal, octal, hexadecimal, mixed, with a trailing dot.
  ...'127.0.0.1 127.0.0.2 127.1 127.0.1 127.255.255.254 2130706433 017700000001 0177.0.0.1 0177.0.0.01'.split(' '),
  ...'0x7f000001 0x7f.0.0.1 0x7f.1 0X7F.0X0.0X0.0X1 0x7f.0.1 00000177.0.0.1 127.0.0.1. 127.1. 0x7f.1.'.split(' '),
  // "This host", which most systems treat as loopback.
  ...'0.0.0.0 0 00 0x0 0.0 0.0.0.1 000.0.0.0'.split(' '),
  // Full-width, circled and ideographic characters and percent-encoding. A URL parser converts them all.
  ...'１２７.０.０.１ ①②⑦.0.0.1 127。0。0。1 127．0．0．1 %31%32%37.0.0.1 127%2e0%2e0%2e1 %30x7f.1'.split(' '),
  ...'ｌｏｃａｌｈｏｓｔ local%68ost ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'.split(' '),
  // Names of loopback.
  ...'localhost LOCALHOST LocalHost localhost. a.localhost a.localhost. ip6-localhost ip6-loopback'.split(' '),
  // IPv6: loopback, unspecified, mapped, compatible, SIIT, NAT64, 6to4, Teredo, local, multicast, documentation.
  ...'[::1] [::] [0:0:0:0:0:0:0:1] [0000::0001] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1]'.split(
    ' ',
  ),
  ...'[::FFFF:7F00:0001] [::127.0.0.1] [::7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1]'.split(
    ' ',
  ),
  ...'[64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:7f00:1::1] [2001:0:7f00:1::] [2001::80ff:fffe] [fe80::1]'.split(' '),
  ...'[fc00::1] [fd00::1] [fec0::1] [ff02::1] [2001:db8::1] [3fff::1] [5f00::1] [100::1] [::ffff:0.0.0.0]'.split(' '),
  // Metadata services of cloud providers.
  ...'169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 [::ffff:169.254.169.254] [fd00:ec2::254]'.split(' '),
  ...'169.254.170.2 100.100.100.200 192.0.0.192 168.63.129.16 [fd20:ce::254] [64:ff9b::a9fe:a9fe]'.split(' '),
  // Private and special networks.
  ...'10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.1.1 100.64.0.1 198.18.0.1'.split(' '),
  ...'192.0.2.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 192.88.99.1'.split(' '),
];

/** URLs with a trick outside of the host. */
const TRICKS = [
  'http://8.8.8.8@127.0.0.1:PORT/',
  'http://user:password@127.0.0.1:PORT/',
  'http://@127.0.0.1:PORT/',
  'http://example.com\\@127.0.0.1:PORT/',
  'http://127.0.0.1:PORT\\@example.com/',
  'http://127.0.0.1:PORT#@example.com/',
  'http://127.0.0.1:PORT?@example.com/',
  'http:127.0.0.1:PORT/',
  'http:/127.0.0.1:PORT/',
  'http:///127.0.0.1:PORT/',
  'http:\\\\127.0.0.1:PORT\\',
  '//127.0.0.1:PORT/',
  ' http://127.0.0.1:PORT/',
  'ht\ntp://127.0.0.1:PORT/',
  'http://127.0.\t0.1:PORT/',
  'http://127.0.0.1\0:PORT/',
  'HTTP://127.0.0.1:PORT/',
  'ftp://127.0.0.1:PORT/',
  'gopher://127.0.0.1:PORT/_GET',
  'ws://127.0.0.1:PORT/',
  'file://127.0.0.1/etc/passwd',
  'file:///etc/passwd',
  'data:image/png;base64,iVBORw0KGgo=',
  'javascript:fetch("http://127.0.0.1:PORT/")',
  'blob:http://127.0.0.1:PORT/1',
  'unix:/var/run/docker.sock',
  'http://example.com:22/',
  'http://example.com:25/',
  'http://example.com:0/',
  'http://example.com:5432/',
  'http://example.com:6379/',
];

/** The list of attacks against a server that listens on `port` of every address of this machine. */
export function attackUrls(port: number): string[] {
  const ownAddresses = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address, family }) => (family === 'IPv6' ? `[${address.replace(/%.*/, '')}]` : address));
  return [
    ...[...HOSTS, ...ownAddresses].flatMap((host) => [`http://${host}:${port}/`, `https://${host}:${port}/`]),
    ...TRICKS.map((trick) => trick.replace('PORT', String(port))),
  ];
}
