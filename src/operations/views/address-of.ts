import { findModel } from '../../models/catalog.ts';
import { hostOf } from './host-of.ts';

interface Address {
  /** Host and port, without the other parts of the URL. */
  host: string | null;
  /** Name of the variable that holds the key. */
  credential: string | null;
}

/**
 * What operators see of an address of a provider. Host and credential are null if only models of the operator's folder
 * are served there, because no API key may read what that folder says. Whoever may write to the folder knows both.
 */
export function addressOf(models: readonly string[], baseUrl: string | null, credential: string | null): Address {
  const isShown = models.some((id) => findModel(id)?.declared === false);
  return isShown ? { host: hostOf(baseUrl ?? ''), credential } : { host: null, credential: null };
}
