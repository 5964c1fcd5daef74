/** The parameters of the address of Create. */
export interface CreateSearch {
  model?: string;
  /** The id of a task whose input fills the form. */
  from?: string;
  as?: string;
  /** The id of a file of this service to use as reference. */
  ref?: string;
  /** The id of a picture of this service to make a film of. */
  animate?: string;
  /** The id of the file that is open in the viewer. */
  view?: string;
}

export interface May {
  create: boolean;
  cancel: boolean;
  read: boolean;
}
