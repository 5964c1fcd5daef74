import { hash, randomBytes } from 'node:crypto';

const TOKEN = /^[\w-]{43}$/;

/** 256 random bits in 43 characters of base64url, for cookies and for links. */
export const newToken = (): string => randomBytes(32).toString('base64url');

export const isToken = (text: string): boolean => TOKEN.test(text);

export const tokenHashOf = (token: string): Buffer => hash('sha256', token, 'buffer');
