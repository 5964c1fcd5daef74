import { isExcepted, isPublicAddress } from './public-address.ts';

const words = (text: string) => text.trim().split(/\s+/);

/** The first and last address of each special-purpose range in IANA's two registries, and the neighbours outside. */
const NOT_PUBLIC = words(`
  0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.0
  127.0.0.1 127.255.255.255 169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255 172.16.0.0 172.31.255.255
  192.0.0.0 192.0.0.192 192.0.0.255 192.0.2.0 192.0.2.255 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.0
  192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255
  224.0.0.0 224.0.0.251 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255 168.63.129.16 :: ::1 ::2
  ::7f00:1 ::127.0.0.1 ::8.8.8.8 ::8.8.8.8%1 0:0:0:0:0:0:8.8.8.8 ::ffff:0.0.0.0 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1
  ::ffff:169.254.169.254 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 64:ff9b::7f00:1 64:ff9b::10.0.0.1
  64:ff9b::169.254.169.254 64:ff9b:: 64:ff9b:1::1 64:ff9b:1:ffff::8.8.8.8 64:ff9c::1 100:: 100::1 100:0:0:1::1
  2001:: 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:1f:ffff::
  2001:20::1 2001:2f:ffff:: 2001:30::1 2001:1ff:ffff::1 2001:db8:: 2001:db8:ffff:ffff::1 2002:: 2002:7f00:1::
  2002:808:808::1 2002:a9fe:a9fe::1 2620:4f:8000::1 3fff:: 3fff:fff:ffff::1 4000::1 5f00::1 8000::1 e000::1 fc00::
  fd00:ec2::254 fd20:ce::254 fdff:ffff::1 fe80:: fe80::1 fe80::1%eth0 febf:ffff::1 fec0::1 feff::1 ff00:: ff02::1
  ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`);

const PUBLIC = words(`
  1.0.0.1 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
  169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.167.255.255 192.169.0.0
  198.17.255.255 198.20.0.0 223.255.255.255 168.63.129.17 2001:200::1 2001:4860:4860::8888 2003::1
  2606:4700:4700::1111 2a00:1450:4001::1 3ffe::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8
`);

/** Notations that only a URL may contain, where they are made canonical first, and texts that are no address. */
const NO_ADDRESS = [
  '',
  'localhost',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  '[::1]',
  '8.8.8.8 ',
  '8.8.8',
  '１.1.1.1',
];

describe('public addresses', () => {
  it.each(NOT_PUBLIC)('%s is not public', (ip) => expect(isPublicAddress(ip)).toBe(false));
  it.each(PUBLIC)('%s is public', (ip) => expect(isPublicAddress(ip)).toBe(true));
  it.each(NO_ADDRESS)('"%s" is not an address, so it is not public', (ip) => expect(isPublicAddress(ip)).toBe(false));
});

describe('exceptions', () => {
  it.each([
    ['127.0.0.1', ['127.0.0.0/8'], true],
    ['128.0.0.1', ['127.0.0.0/8'], false],
    ['::ffff:127.0.0.1', ['127.0.0.0/8'], true],
    ['::ffff:7f00:1', ['10.0.0.0/8', '127.0.0.0/8'], true],
    ['::127.0.0.1', ['127.0.0.0/8'], false],
    ['::1', ['127.0.0.0/8'], false],
    ['::1', ['::1/128'], true],
    ['64:ff9b::7f00:1', ['127.0.0.0/8'], false],
    ['fd00::5', ['fd00::/8'], true],
    ['10.1.2.3', ['0.0.0.0/0'], true],
    ['fd00::5', ['0.0.0.0/0'], false],
    ['10.1.2.3', [], false],
    ['localhost', ['127.0.0.0/8'], false],
  ])('%s in %j: %s', (ip, cidrs, expected) => expect(isExcepted(ip, cidrs)).toBe(expected));
});
