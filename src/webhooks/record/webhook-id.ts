import { typeidUnboxed } from 'typeid-js';
import { typeIdTest } from '../../platform/schema/type-id.ts';

/** TypeIDs: a prefix and 26 time-ordered characters, so that ids sort by creation. */
export const newEndpointId = (): string => typeidUnboxed('we');
export const newEventId = (): string => typeidUnboxed('evt');
export const newDeliveryId = (): string => typeidUnboxed('dlv');

export const isEndpointId = typeIdTest('we');
export const isEventId = typeIdTest('evt');
