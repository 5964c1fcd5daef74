import { typeidUnboxed } from 'typeid-js';
import { typeIdTest } from '../../platform/schema/type-id.ts';

/** TypeID: `file_` and 26 characters, time-ordered. An output's id has an underscore and its index after it. */
export const newUploadId = (): string => typeidUnboxed('file');

export const isUploadId = typeIdTest('file');
