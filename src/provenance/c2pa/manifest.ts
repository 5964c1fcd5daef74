import { VERSION } from '../../platform/config/version.ts';
import { TRAINED_ALGORITHMIC_MEDIA } from '../xmp/packet.ts';

/** The definition of a manifest, with one action: "created by this model". c2pa-wasm adds the hash of the file. */
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
