/**
 * Codes with which every interface may refuse a creation: faults of its model, its bounds, its images and its files.
 */
export const CREATION_FAULTS = [
  'model_not_found',
  'model_not_allowed',
  'unsupported_parameter',
  'queue_full',
  'budget_exceeded',
  'file_not_found',
  'file_expired',
  'url_not_allowed',
  'invalid_url',
  'invalid_image',
  'upload_incomplete',
  'file_quota_exceeded',
] as const;
