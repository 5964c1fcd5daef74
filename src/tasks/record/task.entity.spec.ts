import { SHOWN, shownTask, toShownTask } from './task.entity.ts';

const byName = Object.fromEntries(SHOWN.map((column) => [column, column]));

it('each value of a row becomes the property of its column', () => {
  expect(shownTask((column) => column as never)).toEqual(byName);
  expect(toShownTask([...SHOWN, 'version'])).toEqual(byName);
});
