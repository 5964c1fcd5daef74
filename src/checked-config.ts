import { type Config, ConfigError, readConfig } from './platform/config/config.ts';
import { checkCredential } from './provenance/c2pa/check-credential.ts';
import { readBindings } from './providers/bindings/bindings-file.ts';
import { loadModels } from './providers/bindings/load-models.ts';

/**
 * Checks of the files that settings name. `readConfig` itself reads the files that hold the value of a setting, such as
 * the file that `SECRET_KEY_FILE` names.
 */
const CHECKS: readonly ((config: Config) => unknown)[] = [loadModels, readBindings, checkCredential];

/**
 * Reads the configuration, and checks the models, the bindings and the C2PA credential that it names.
 * @throws ConfigError with the faults of the settings and of the files, before anything is started
 */
export async function loadCheckedConfig(given: NodeJS.ProcessEnv = process.env): Promise<Config> {
  const { config, faults } = readConfig(given);
  for (const check of CHECKS) {
    try {
      await check(config);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}
