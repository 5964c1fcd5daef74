import { ApiError } from '../../errors/api-error.ts';
import { checkOutboundUrl, refusedAddress, type OutboundRules } from './url-rules.ts';

const words = (text: string) => text.trim().split(/\s+/);

const strict: OutboundRules = { outboundAllowCidrs: [], outboundAllowHttp: false };
const developing: OutboundRules = { outboundAllowCidrs: ['127.0.0.0/8'], outboundAllowHttp: true };

function verdict(url: string, rules: OutboundRules, https: boolean): string {
  try {
    return checkOutboundUrl(url, rules, { https, param: 'url' }).href;
  } catch (error) {
    if (error instanceof ApiError && error.param === 'url' && error.status === 400) return error.code;
    throw error;
  }
}

const INVALID = words(`
  x /a //host/a host host:443 https: https:// https:///a https:/host/ https:host ftp://host/ file:///etc/passwd
  gopher://host:70/ data:image/png;base64,AAAA javascript:alert(1) blob:https://host/1 ws://host/
  unix:/var/run/docker.sock https://user@host/ https://user:secret@host/ https://@host/ https://:@host/
  https://8.8.8.8@127.0.0.1/ https://host:65536/ https://host:-1/ https://host:8o/ https://[::1/
  https://[::1%25lo]/ https://[fe80::1%25eth0]/ https://256.0.0.1/ https://1.2.3.4.5/ https://0x100000000/
  https://ho%00st/ https://ho%2fst/ https://h^st/ https://?q https://#f
`).concat([
  '',
  'https:\\\\host\\',
  'https://host\\@evil/',
  'https://good\\.com/',
  ' https://host/',
  'https://host/ ',
  'https://ho\tst/',
  'https://ho\nst/',
  'https://h h/',
  'https://host/\r\nX: y',
  'https://host/\0',
  `https://host/${'a'.repeat(2036)}`,
]);

const REFUSED = words(`
  https://127.0.0.1/ https://127.0.0.1:8443/ https://2130706433/ https://017700000001/ https://0x7f000001/
  https://0x7F.0x0.0x0.0x1/ https://0177.0.0.01/ https://127.1/ https://127.0.1/ https://0/ https://0.0.0.0/
  https://127.0.0.1./ https://%31%32%37.0.0.1/ https://127%2e0%2e0%2e1/ https://１２７.０.０.１/ https://①②⑦.0.0.1/
  https://127。0。0。1/ https://[::1]/ https://[::]/ https://[0:0:0:0:0:0:0:1]/ https://[::ffff:127.0.0.1]/
  https://[::ffff:7f00:1]/ https://[::127.0.0.1]/ https://[64:ff9b::7f00:1]/ https://[64:ff9b:1::7f00:1]/
  https://[2002:7f00:1::]/ https://[2001:0:7f00:1::]/ https://[fd00:ec2::254]/ https://[fc00::1]/
  https://[fe80::1]/ https://[fec0::1]/ https://[ff02::1]/ https://[2001:db8::1]/
  https://169.254.169.254/latest/meta-data/ https://2852039166/ https://0xa9fea9fe/ https://100.100.100.200/
  https://192.0.0.192/ https://168.63.129.16/ https://10.0.0.1/ https://172.16.0.1/ https://192.168.1.1/
  https://100.64.0.1/ https://198.18.0.1/ https://224.0.0.1/ https://255.255.255.255/ https://localhost/
  https://localhost./ https://LOCALHOST/ https://LocalHost:8443/ https://a.localhost/ https://a.b.localhost./
  https://ｌｏｃａｌｈｏｓｔ/ https://local%68ost/ https://ⓛocalhost/ https://host:0/ https://host:1/ https://host:21/
  https://host:22/ https://host:25/ https://host:53/ https://host:79/ https://host:81/ https://host:442/
  https://host:444/ https://host:1023/ https://host:3306/ https://host:5432/ https://host:6379/ https://host:9200/
  https://host:11211/ https://host:27017/ https://8.8.8.8:22/
`);

const GOOD = words(`
  https://example.com HTTPS://EXAMPLE.com/ https://example.com./ https://example.com:443/hook?x=1#f
  https://example.com:80/ https://example.com:8443/ https://example.com:1024/ https://example.com:65535/
  https://8.8.8.8/ https://134744072/ https://[2606:4700:4700::1111]/ https://bücher.example/a%20b
  https://localhost.example.com/ https://notlocalhost/ https://metadata.google.internal/ https://a_b.example/
`).concat([`https://host/${'a'.repeat(2035)}`]);

describe('URLs from clients', () => {
  it.each(INVALID)('%j is invalid_url', (url) => {
    expect(verdict(url, strict, true)).toBe('invalid_url');
    expect(verdict(url, developing, false)).toBe('invalid_url');
  });

  it.each(REFUSED)('%j is url_not_allowed, with http too', (url) => {
    expect(verdict(url, strict, true)).toBe('url_not_allowed');
    expect(verdict(url.replace('https', 'http'), strict, false)).toBe('url_not_allowed');
  });

  it.each(GOOD)('%j is accepted', (url) => expect(verdict(url, strict, true)).toBe(new URL(url).href));

  it('accepts http for images, and for webhooks only if the operator allows it', () => {
    expect(verdict('http://example.com/', strict, false)).toBe('http://example.com/');
    expect(verdict('http://example.com/', strict, true)).toBe('url_not_allowed');
    expect(verdict('http://example.com/', developing, true)).toBe('http://example.com/');
  });

  it.each([
    ['http://127.0.0.1:5432/', true],
    ['http://0x7f.1:22/', true],
    ['http://[::ffff:127.0.0.1]:22/', true],
    ['http://localhost:3306/', true],
    ['http://a.localhost./', true],
    ['http://name-to-be-resolved:22/', true],
    ['http://[::1]/', false],
    ['http://10.0.0.1/', false],
    ['http://8.8.8.8:22/', false],
  ])('with 127.0.0.0/8 excepted, %s is accepted: %s', (url, taken) => {
    expect(verdict(url, developing, true)).toBe(taken ? new URL(url).href : 'url_not_allowed');
  });

  it('reveals nothing about the server at an address', () => {
    const messages = ['https://127.0.0.1/', 'https://10.0.0.1/', 'https://[fe80::1]/', 'https://localhost/'].map(
      (url) => {
        try {
          return checkOutboundUrl(url, strict, { https: true });
        } catch (error) {
          return (error as ApiError).message;
        }
      },
    );
    expect(new Set(messages)).toEqual(new Set(['This URL must lead to a public address.']));
  });
});

describe('addresses of a resolved name', () => {
  const url = new URL('https://example.com/');
  const database = new URL('https://example.com:5432/');

  it.each([
    [['8.8.8.8', '2606:4700:4700::1111'], url, strict, undefined],
    [['8.8.8.8', '127.0.0.1'], url, strict, '127.0.0.1'],
    [['8.8.8.8', '::ffff:7f00:1'], url, developing, undefined],
    [['8.8.8.8', '10.0.0.1', '127.0.0.1'], url, developing, '10.0.0.1'],
    [['127.0.0.1'], database, developing, undefined],
    [['127.0.0.1', '8.8.8.8'], database, developing, '8.8.8.8'],
    [['not an address'], url, strict, 'not an address'],
  ])('%j for %s: refuses %s', (addresses, place, rules, refused) => {
    expect(refusedAddress(addresses, place, rules)).toBe(refused);
  });
});
