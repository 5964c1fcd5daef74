import { type ShownRow, toShownTask } from './shown-row.ts';
import { SHOWN } from './task.entity.ts';

it('each value of a row becomes the property of its column', () => {
  expect(toShownTask(SHOWN as unknown as ShownRow)).toEqual(
    Object.fromEntries(SHOWN.map((column) => [column, column])),
  );
});
