/** A film is encoded in pieces that depend on nothing but their own frames, so that two threads can work on it. */
export interface Piece {
  index: number;
  /** Of its first frame, a key frame. */
  from: number;
  frames: number;
}

export const FRAMES_PER_SECOND = 24;

/** Two seconds, the longest way to a key frame when a player seeks. */
const MAX_PIECE_FRAMES = 48;
/** One second. Starting another thread for less takes longer than it saves. */
const MAX_UNSHARED_FRAMES = 24;

/** Pieces of equal length, an even number of them, so that two threads finish together. */
export function piecesOf(frameCount: number): Piece[] {
  const count = frameCount <= MAX_UNSHARED_FRAMES ? 1 : 2 * Math.ceil(frameCount / (2 * MAX_PIECE_FRAMES));
  const start = (index: number) => Math.round((frameCount * index) / count);
  return Array.from({ length: count }, (_, index) => {
    const from = start(index);
    return { index, from, frames: start(index + 1) - from };
  });
}

const NEXT_PIECE = 0;
const DONE_FRAMES = 1;

/** What the threads of one film share. */
export class PieceBoard {
  /** To send to another thread, which makes its own board of it. */
  readonly shared: SharedArrayBuffer;
  private readonly counters: Int32Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.shared = shared;
    this.counters = new Int32Array(shared);
  }

  /** Each piece is taken once. */
  take(pieces: readonly Piece[]): Piece | undefined {
    return pieces[Atomics.add(this.counters, NEXT_PIECE, 1)];
  }

  /** @returns how many frames all threads have done */
  countFrame(): number {
    return Atomics.add(this.counters, DONE_FRAMES, 1) + 1;
  }
}
