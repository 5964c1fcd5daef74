import { currentScope, errorTypeOf } from '../../platform/traces/span.ts';
import { toTraceparent } from '../../platform/traces/traceparent.ts';
import { traces } from '../../platform/traces/traces.ts';

type StageName = 'submit' | 'upstream' | 'download';

/** The spans of what a run does at its provider. One follows the other while the provider's code goes on. */
export class StageSpans {
  private readonly scope = currentScope.getStore();
  private name: StageName | null = null;

  constructor(private readonly provider: string) {}

  begin(name: StageName): void {
    if (!this.scope || this.name === name) return;
    this.end();
    const parent = toTraceparent(this.scope.span);
    const attributes = { 'darkroom.provider': this.provider };
    const span = traces.open(name, { kind: 'client', parent, attributes });
    this.scope.stage = span && { span, provider: this.provider, polls: 0 };
    this.name = name;
  }

  /** @param error why the stage ended early */
  end(error?: unknown): void {
    const stage = this.scope?.stage;
    if (!this.scope || !stage) return;
    if (this.name === 'upstream' && stage.polls > 0) stage.span.set({ 'darkroom.polls': stage.polls });
    if (error !== undefined) stage.span.fail(errorTypeOf(error));
    stage.span.end();
    this.scope.stage = null;
    this.name = null;
  }
}
