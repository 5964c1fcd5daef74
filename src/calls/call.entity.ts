import { Column, Entity, PrimaryColumn } from 'typeorm';
import { typeidUnboxed } from 'typeid-js';

/** TypeID: `call_` + 26 time-ordered characters. */
export const newCallId = (): string => typeidUnboxed('call');

/**
 * A request that creates a task and is answered with the task or its outcome. The row is kept as long as a retry may
 * ask for it.
 */
@Entity('calls')
export class Call {
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  /** The route, for operators to read. The fingerprint contains it too. */
  @Column('text') path: string;
  /** SHA-256 of the route, the canonical body and the hashes of the files. */
  @Column('bytea') fingerprint: Buffer;
  /** null until the task is stored. The idempotency key of the task derives from the id of the call. */
  @Column('text', { nullable: true }) task_id: string | null;
  @Column('timestamptz') created_at: Date;
  /** When the last connection that waited for the outcome ended without it, or when its client gave the call up. */
  @Column('timestamptz', { nullable: true }) hung_up_at: Date | null;
  /** When the outcome was written completely to an open connection. */
  @Column('timestamptz', { nullable: true }) delivered_at: Date | null;
  /** Until when equal calls get the failure that this call got. */
  @Column('timestamptz', { nullable: true }) failed_until: Date | null;
  /**
   * End of the lease of the connection that waits for the outcome. null after that connection has ended without the
   * outcome, or after its client has given the call up.
   */
  @Column('timestamptz', { nullable: true }) joined_until: Date | null;
  /**
   * Identifies the MCP message that made the call. null if the client cannot give the call up. It also becomes null
   * when the answer begins.
   */
  @Column('text', { nullable: true }) message: string | null;
  /**
   * The number of the attempt that holds the call; 0 is the first. A retry has the number that its client sent, or else
   * the next number. When the client gives the call up, the number rises too, so that no attempt holds the call.
   */
  @Column('integer') joined_retry: number;
}
