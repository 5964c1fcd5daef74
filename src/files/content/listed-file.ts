import { ApiError } from '../../errors/api-error.ts';

/**
 * Finds a file that a list in a request body names.
 * @throws ApiError of `find`, with the entry of the list as `param`, and with 400 in place of a status that refers to
 *   the path
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
