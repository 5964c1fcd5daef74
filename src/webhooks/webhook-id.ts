import { typeidUnboxed } from 'typeid-js';

/** TypeIDs: a prefix and 26 time-ordered characters, so that ids sort by creation. */
export const newEndpointId = (): string => typeidUnboxed('we');
export const newEventId = (): string => typeidUnboxed('evt');
export const newDeliveryId = (): string => typeidUnboxed('dlv');

const SUFFIX = '_[0-7][0-9a-hjkmnp-tv-z]{25}$';
const ENDPOINT_ID = new RegExp(`^we${SUFFIX}`);
const EVENT_ID = new RegExp(`^evt${SUFFIX}`);

export const isEndpointId = (text: string): boolean => ENDPOINT_ID.test(text);
export const isEventId = (text: string): boolean => EVENT_ID.test(text);
