/**
 * Codes for faults in the model, the values or the images of a generation request. An estimate answers with them too.
 */
export const REQUEST_FAULTS = [
  'model_not_found',
  'model_not_allowed',
  'unsupported_parameter',
  'file_not_found',
  'file_expired',
  'url_not_allowed',
  'invalid_url',
  'invalid_image',
  'upload_incomplete',
] as const;

/** Error codes with which any interface may refuse to create a task. */
export const CREATION_FAULTS = [...REQUEST_FAULTS, 'queue_full', 'budget_exceeded', 'file_quota_exceeded'] as const;
