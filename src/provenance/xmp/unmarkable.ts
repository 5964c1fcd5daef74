/** Why a file stays as it is. `signed`: it has a C2PA manifest, whose hash any change of the file would break. */
export type UnmarkableReason = 'signed' | 'malformed' | 'xmp_unreadable' | 'no_room';

/** The mark cannot be added without damage to what is in the file. */
export class Unmarkable extends Error {
  readonly reason: UnmarkableReason;

  constructor(reason: UnmarkableReason, detail: string) {
    super(detail);
    this.name = 'Unmarkable';
    this.reason = reason;
  }
}
