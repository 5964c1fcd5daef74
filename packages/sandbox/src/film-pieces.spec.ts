import { PieceBoard, piecesOf } from './film-pieces.ts';

it.each([1, 12, 24, 25, 72, 120, 121, 359, 360, 480])('%i frames are all in one piece each, in order', (frameCount) => {
  const pieces = piecesOf(frameCount);
  let next = 0;
  for (const [i, { index, from, frames }] of pieces.entries()) {
    expect([index, from]).toEqual([i, next]);
    expect(frames).toBeGreaterThan(0);
    expect(frames).toBeLessThanOrEqual(48); // a key frame every two seconds at least
    next += frames;
  }
  expect(next).toBe(frameCount);
});

it('two threads can share what is longer than a second half and half', () => {
  expect(piecesOf(24)).toHaveLength(1);
  expect(piecesOf(120).map(({ frames }) => frames)).toEqual([30, 30, 30, 30]);
});

it('each piece is taken once, whichever thread asks', () => {
  const board = new PieceBoard();
  const twin = new PieceBoard(board.shared);
  const pieces = piecesOf(120);
  const taken = [board, twin, twin, board, twin].map((one) => one.take(pieces)?.index);
  expect(taken).toEqual([0, 1, 2, 3, undefined]);
  expect([board.countFrame(), twin.countFrame()]).toEqual([1, 2]);
});
