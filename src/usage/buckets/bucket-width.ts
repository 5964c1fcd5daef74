export const BUCKET_WIDTHS = ['1h', '1d', '1M', 'all'] as const;
export type BucketWidth = (typeof BUCKET_WIDTHS)[number];
