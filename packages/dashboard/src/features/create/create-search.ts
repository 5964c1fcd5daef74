/** The parameters of the address of Create. */
export interface CreateSearch {
  model?: string;
  /** A task to begin with. */
  from?: string;
  as?: string;
  /** The id of an own file to use as reference. */
  ref?: string;
  /** The id of an own picture to make a film of. */
  animate?: string;
  /** The id of a file that is open over the runs. */
  view?: string;
}

export interface May {
  create: boolean;
  cancel: boolean;
  read: boolean;
}
