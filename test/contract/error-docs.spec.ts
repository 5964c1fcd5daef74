import { readFileSync } from 'node:fs';
import { ERRORS } from '../../src/errors/catalog.ts';

const root = new URL('../../', import.meta.url);
const ROW = /^\| +(\d{3}) +\| (\w+) +\| `(\w+)` +\| (.+?) +\|$/gm;

const documented = [...readFileSync(new URL('docs/api/errors.md', root), 'utf8').matchAll(ROW)].map(
  ([, status, type, code, when]) => ({ status: Number(status), type, code, when }),
);

describe('docs/api/errors.md', () => {
  it('lists every code of the catalogue once, and no other', () => {
    expect(documented.map(({ code }) => code).sort()).toEqual(Object.keys(ERRORS).sort());
  });

  it.each(documented)('gives $code its status and type', ({ code, status, type }) => {
    expect({ status, type }).toEqual({ status: ERRORS[code as never]['status'], type: ERRORS[code as never]['type'] });
  });

  it('says when each occurs', () => {
    expect(documented.filter(({ when }) => !/^[A-Z`].{10,}[.)]$/.test(when))).toEqual([]);
  });
});

const openApi = new URL('openapi.json', root);
describe('openapi.json', () => {
  it('lists the codes and types of the catalogue', () => {
    const { ErrorCode, ErrorType } = JSON.parse(readFileSync(openApi, 'utf8')).components.schemas;
    expect(ErrorCode.enum).toEqual(Object.keys(ERRORS));
    expect(ErrorType.enum).toEqual([...new Set(Object.values(ERRORS).map(({ type }) => type))]);
  });
});
