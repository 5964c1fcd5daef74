import { typeidUnboxed } from 'typeid-js';
import { typeIdTest } from '../../platform/schema/type-id.ts';

/**
 * The id of an upload is a TypeID: `file_` and 26 characters, time-ordered. The id of an output also has an underscore
 * and the output's index.
 */
export const newUploadId = (): string => typeidUnboxed('file');

export const isUploadId = typeIdTest('file');
