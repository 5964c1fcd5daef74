/** A generation task as `GET /contents/generations/tasks/{id}` gives it; only what is read here, and nothing is relied on. */
export interface ArkTask {
  id?: string;
  /** queued running succeeded failed cancelled expired */
  status?: string;
  error?: { code?: string; message?: string } | null;
  content?: { video_url?: string } | null;
  /** Unix seconds. */
  created_at?: number;
  updated_at?: number;
  seed?: number;
}

export interface ArkList {
  total?: number;
  items?: ArkTask[];
}

/** Of a refused call. */
export interface ArkErrorBody {
  error?: { code?: string; message?: string; param?: string; request_id?: string };
}
