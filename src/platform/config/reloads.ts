import { Injectable, Logger } from '@nestjs/common';
import { Config } from './config.ts';

interface Reload {
  /** The value that is in force. */
  value: string;
  /**
   * Functions that apply a new value. A function that fails changes nothing, and throws an Error for the operator. Its
   * message must not contain the value.
   */
  apply: ((value: string) => void)[];
}

/** Settings that a process reads again from their files at a SIGHUP. Modules register what they do with a new value. */
@Injectable()
export class Reloads {
  private readonly logger = new Logger('process');
  private readonly reloads = new Map<string, Reload>();
  private readonly acts: (() => void)[] = [];

  constructor(private readonly config: Config) {}

  /**
   * Registers what to do with a new value of a variable.
   * @param value the value that is in force now
   */
  register(variable: string, value: string, apply: (value: string) => void): void {
    const known = this.reloads.get(variable);
    if (known) known.apply.push(apply);
    else this.reloads.set(variable, { value, apply: [apply] });
  }

  /** @param act called at each SIGHUP; it must not throw */
  onHangup(act: () => void): void {
    this.acts.push(act);
  }

  /**
   * Calls what `onHangup` registered, then applies new values. The old value stays if the variable is no longer set. It
   * stays too if the new value cannot be read or is wrong: then the fault is logged.
   */
  run(): void {
    for (const act of this.acts) act();
    for (const [variable, reload] of this.reloads) {
      try {
        const value = this.config.secretOf(variable);
        if (value === null || value === reload.value) continue;
        for (const apply of reload.apply) apply(value);
        reload.value = value;
        this.logger.log({ event: 'setting.reloaded', variable });
      } catch (error) {
        this.logger.warn({ event: 'setting.refused', variable, fault: (error as Error).message });
      }
    }
  }
}
