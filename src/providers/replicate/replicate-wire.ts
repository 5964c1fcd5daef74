/** As `GET /predictions/{id}` gives it; only what is read here. */
export interface Prediction {
  id?: string;
  model?: string;
  /** starting processing succeeded failed canceled aborted */
  status?: string;
  input?: { seed?: unknown };
  /** An address, or several. */
  output?: unknown;
  error?: unknown;
  logs?: string | null;
  /** ISO 8601. */
  created_at?: string;
  started_at?: string | null;
  /** Input, output and logs are gone: one hour after the end. */
  data_removed?: boolean;
}

/** `GET /predictions`: a hundred a page, the newest first. */
export interface PredictionPage {
  /** Address of the next page. */
  next?: string | null;
  results?: Prediction[];
}

/** Of `POST /files`. */
export interface UploadedFile {
  urls?: { get?: string };
}

/** Of a refused call. */
export interface ReplicateErrorBody {
  title?: string;
  detail?: unknown;
}
