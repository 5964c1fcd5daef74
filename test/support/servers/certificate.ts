import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/**
 * Makes a key and a self-signed certificate for a name, valid for an hour, in PEM. It writes DER by hand (RFC 5280), because
 * node:crypto reads certificates but does not write them, and the repository should contain no private key.
 */
export function makeCertificate(name: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const subject = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name))))); // CN
  const altName = sequence(oid('551d11'), der(0x04, sequence(der(0x82, Buffer.from(name))))); // dNSName
  const isCa = sequence(oid('551d13'), der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])), // serial number
    ecdsaWithSha256,
    subject, // the issuer is itself
    sequence(time(-3600), time(3600)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isCa, altName)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]);
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, signature));
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function sequence(...contents: Buffer[]): Buffer {
  return der(0x30, ...contents);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

/** GeneralizedTime, the given number of seconds from now. */
function time(seconds: number): Buffer {
  const digits = new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+|\D/g, '');
  return der(0x18, Buffer.from(`${digits}Z`));
}
