import type { TaskSearch } from '../../live/task-filter.ts';

/** What the address of the gallery says. */
export interface GallerySearch extends TaskSearch {
  size?: string;
  /** `1`: with the places of deleted files. */
  expired?: string;
}
