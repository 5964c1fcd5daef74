/**
 * A part of a film that is encoded on its own. No frame of a piece depends on another piece, so that two threads can
 * encode one film.
 */
export interface Piece {
  index: number;
  /** The number of the first frame of the piece, which is a key frame. */
  from: number;
  frames: number;
}

export const FRAMES_PER_SECOND = 24;

/** Two seconds: the longest distance between key frames, which limits the work of a player that seeks. */
const MAX_PIECE_FRAMES = 48;
/** One second. For a film of at most this length, starting another thread takes longer than it saves. */
const MAX_UNSHARED_FRAMES = 24;

/**
 * The pieces of a film. A short film is one piece. A longer film has an even number of pieces of almost equal length,
 * so that two threads finish together.
 */
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

/** What the threads of one film share: which piece is next, and how many frames are done. */
export class PieceBoard {
  /** The shared memory of the board. Another thread that receives it creates its own `PieceBoard` with it. */
  readonly shared: SharedArrayBuffer;
  private readonly counters: Int32Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.shared = shared;
    this.counters = new Int32Array(shared);
  }

  /** Takes the next piece; undefined: none is left. No piece is taken twice. */
  take(pieces: readonly Piece[]): Piece | undefined {
    return pieces[Atomics.add(this.counters, NEXT_PIECE, 1)];
  }

  /** Counts one more encoded frame. @returns how many frames all threads together have encoded */
  countFrame(): number {
    return Atomics.add(this.counters, DONE_FRAMES, 1) + 1;
  }
}
