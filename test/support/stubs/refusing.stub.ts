import { StubHttp, type StubRequest } from './stub-http.ts';

/** Takes uploads and refuses every job, so that each run ends with its first one. */
export class RefusingUpstream extends StubHttp {
  protected answer({ path, files }: StubRequest) {
    if (path === '/upload/image') return { status: 200, body: { name: files[0]!.name, subfolder: 'darkroom' } };
    return { status: 400, body: { error: { message: 'refused', code: 'refused' } } };
  }

  protected override keyOf(): string | undefined {
    return undefined;
  }

  protected override isSubmit(): boolean {
    return false;
  }
}
