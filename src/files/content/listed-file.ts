import { ApiError } from '../../errors/api-error.ts';

/**
 * Finds a file that a list in a request body names.
 * @throws ApiError of `find`. If its status is below 500, its `param` becomes the path of the list entry, and its
 *   status becomes 400, except for upload_incomplete
 */
export async function listedFile<Found>(index: number, find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const status = error.code === 'upload_incomplete' ? error.status : 400;
    throw new ApiError(error.code, { status, param: `file_ids[${index}]`, message: error.message });
  }
}
