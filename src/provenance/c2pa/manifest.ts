import { VERSION } from '../../platform/config/version.ts';
import { TRAINED_ALGORITHMIC_MEDIA } from '../xmp/packet.ts';

/** The definition that c2pa-wasm completes with the hash of the file: one action, "created by this model". */
export function manifestOf(model: string): object {
  const action = {
    action: 'c2pa.created',
    digitalSourceType: TRAINED_ALGORITHMIC_MEDIA,
    softwareAgent: { name: model },
  };
  return {
    claim_generator_info: [{ name: 'Darkroom', version: VERSION }],
    assertions: [{ label: 'c2pa.actions.v2', created: true, data: { actions: [action] } }],
  };
}
