/** Why a creation can be refused, over any interface: the faults of its model, its bounds and its images. */
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
