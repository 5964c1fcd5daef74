import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/**
 * Makes a key and a self-signed certificate for a name or an IPv4 address, valid for an hour, in PEM. They are made
 * here because the repository should contain no private key. The DER is written by hand (RFC 5280), because node:crypto
 * cannot write certificates.
 */
export function makeCertificate(name: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const subject = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name))))); // CN
  const isAddress = isIPv4(name);
  const altNames = der(
    isAddress ? 0x87 : 0x82,
    isAddress ? Buffer.from(name.split('.').map(Number)) : Buffer.from(name),
  );
  const altName = sequence(oid('551d11'), der(0x04, sequence(altNames))); // iPAddress or dNSName
  const isCa = sequence(oid('551d13'), der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])), // serial number
    ecdsaWithSha256,
    subject, // the issuer is the subject itself
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

/**
 * Makes the credential of a C2PA signer in PEM: its key, its certificate for signing e-mail, and the root that issued it.
 * @param startsInS and `endsInS`: the validity in seconds from now
 */
export function makeSigningCredential({ startsInS = -3600, endsInS = 3600, purpose = '2b06010505070304' } = {}) {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rootId = createHash('sha1')
    .update(root.publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
  const critical = der(0x01, Buffer.from([0xff]));
  const isCa = sequence(oid('551d13'), critical, der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
  const signsCertificates = sequence(oid('551d0f'), critical, der(0x04, Buffer.from('03020106', 'hex')));
  const signs = sequence(oid('551d0f'), critical, der(0x04, Buffer.from('03020780', 'hex')));
  const purposes = sequence(oid('551d25'), der(0x04, sequence(oid(purpose))));
  const rootKey = sequence(oid('551d0e'), der(0x04, der(0x04, rootId)));
  const issuerKey = sequence(oid('551d23'), der(0x04, sequence(der(0x80, rootId))));
  const validity = sequence(time(startsInS), time(endsInS));
  const rootCertificate = issue(root.privateKey, [
    nameOf('Test Root'),
    validity,
    nameOf('Test Root'),
    root.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isCa, signsCertificates, rootKey)),
  ]);
  const certificate = issue(root.privateKey, [
    nameOf('Test Root'),
    validity,
    nameOf('Test Signer'),
    own.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(signs, purposes, issuerKey)),
  ]);
  return {
    key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: certificate + rootCertificate,
    root: rootCertificate,
  };
}

/** The subject has an organisation and a name, because readers of C2PA show both. */
const nameOf = (name: string): Buffer =>
  sequence(
    ...[['55040a', 'Darkroom tests'] as const, ['550403', name] as const].map(([type, value]) =>
      der(0x31, sequence(oid(type), der(0x0c, Buffer.from(value)))),
    ),
  );

/**
 * @param rest the fields of the certificate from the issuer on;
 * @returns PEM
 */
function issue(issuerKey: KeyObject, rest: Buffer[]): string {
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const version3 = der(0xa0, der(0x02, Buffer.from([2])));
  const serial = der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)]));
  const body = sequence(version3, serial, ecdsaWithSha256, ...rest);
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, issuerKey)]);
  const lines = sequence(body, ecdsaWithSha256, der(0x03, signature)).toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
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

/** GeneralizedTime for a time that is this number of seconds from now. */
function time(seconds: number): Buffer {
  const digits = new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+|\D/g, '');
  return der(0x18, Buffer.from(`${digits}Z`));
}
