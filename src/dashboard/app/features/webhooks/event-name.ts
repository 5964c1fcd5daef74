/** `TASK_COMPLETED` is `task.completed` in REST, in deliveries and on the screen. */
export const eventName = (type: string): string => type.toLowerCase().replace('_', '.');

/** Why an attempt failed, in words. */
export const ATTEMPT_FAULTS: Record<string, string> = {
  BLOCKED_ADDRESS: 'The address is private, so the service does not call it',
  CONNECT_FAILED: 'Nothing answered at the address',
  DNS_FAILURE: 'The host name could not be resolved',
  HTTP_STATUS: 'The receiver refused it',
  TIMEOUT: 'The receiver took too long',
  TLS_ERROR: 'The certificate of the receiver is not valid',
};
