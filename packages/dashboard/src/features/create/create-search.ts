/** What the address of Create says. */
export interface CreateSearch {
  model?: string;
  /** A task to begin with. */
  from?: string;
  as?: string;
  /** A file of ours to use as reference. */
  ref?: string;
  /** A picture of ours to make a film of. */
  animate?: string;
  /** A file that was made here, over the table. */
  view?: string;
}

export interface May {
  create: boolean;
  cancel: boolean;
  read: boolean;
}
