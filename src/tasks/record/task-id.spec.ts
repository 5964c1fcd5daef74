import { TypeID } from 'typeid-js';
import { idBoundAt } from '../../platform/schema/time.ts';
import { newTaskId } from './task-id.ts';

/** The first and the last UUIDv7 of a millisecond (RFC 9562: 48 bits of time come first). */
function idsOf(ms: number): string[] {
  const time = ms.toString(16).padStart(12, '0');
  return ['7000-8000-000000000000', '7fff-bfff-ffffffffffff'].map((rest) =>
    TypeID.fromUUID('task', `${time.slice(0, 8)}-${time.slice(8)}-${rest}`).toString(),
  );
}

describe('the bound of ids at a time', () => {
  it.each([0, 1, 31, 32, 1_795_180_135_412, 2 ** 48 - 2])(
    'separates the ids of %i ms and later from all earlier ones',
    (ms) => {
      for (const id of idsOf(ms)) {
        expect(id > idBoundAt(ms)).toBe(true);
        expect(id < idBoundAt(ms + 1)).toBe(true);
      }
    },
  );

  it('at the current time is just below a new id', () => {
    const before = idBoundAt(Date.now());
    const id = newTaskId();
    expect(before < id && id < idBoundAt(Date.now() + 1)).toBe(true);
  });

  it('clamps times that no id can have', () => {
    expect(idBoundAt(-5000)).toBe(idBoundAt(0));
    expect(idBoundAt(8.64e15)).toBe(idBoundAt(2 ** 48 - 1));
  });
});
