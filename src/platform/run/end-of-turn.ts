let turn: Promise<void> | undefined;

/**
 * Resolves when the event loop has read everything that arrived in this turn. All that wait share one promise, so they
 * go on in step: the same code runs for one request after the other, and their responses leave together.
 */
export function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}
