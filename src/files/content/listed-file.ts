import { ApiError } from '../../errors/api-error.ts';

/**
 * Finds a file that a list in a request body names.
 * @throws ApiError of `find`. Below 500, `param` is the entry of the list, and the status is 400, except for
 *   upload_incomplete
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
