/** Of `POST /{endpoint}`. */
export interface FalSubmitted {
  request_id?: string;
}

/** Of `GET …/status`. There is no failed status: a failure is COMPLETED with an error here or on the result. */
export interface FalStatus {
  /** IN_QUEUE IN_PROGRESS COMPLETED */
  status?: string;
  error?: unknown;
  error_type?: string;
}

interface FalFile {
  url?: string;
}

/** Of `GET …/requests/{id}`. */
export interface FalResult {
  images?: FalFile[];
  video?: FalFile;
}

/** Of a refusal: the model's (a list) or the platform's (a text). */
export interface FalErrorBody {
  detail?: string | { msg?: string; type?: string; loc?: unknown }[];
  error_type?: string;
}
