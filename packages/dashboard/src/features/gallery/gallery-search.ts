import type { TaskSearch } from '../../live/task-filter.ts';

/** The parameters of the address of the gallery. */
export interface GallerySearch extends TaskSearch {
  size?: string;
  /** `1`: deleted files are shown too, as empty tiles. */
  expired?: string;
}
